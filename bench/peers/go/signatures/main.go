// The work of the service's curve in Go: go-ethereum's binding of libsecp256k1 and its Keccak-256.
// "go run . STAGE ASSETS SECONDS" repeats a stage and prints how often it ran in a second of CPU time.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/crypto/secp256k1"
)

const (
	signatures  = 256
	headBytes   = 10
	entryBytes  = 18
	sigBytes    = 65
	frameHead   = `{"type":"signed_ecdsa","p":"0x`
	frameTail   = `"}`
	taxonomy    = 1
	timestampNs = 1_735_689_600_000_000_000
)

var key = bytes.Repeat([]byte{1}, 32)

func main() {
	stages := map[string]func(assets int) func(){"sign": signStage, "recover": recoverStage, "frames": frameStage}
	if len(os.Args) != 4 || stages[os.Args[1]] == nil {
		fail("usage: STAGE ASSETS SECONDS, with a stage of sign, recover, frames")
	}
	assets, err := strconv.Atoi(os.Args[2])
	check(err)
	seconds, err := strconv.ParseFloat(os.Args[3], 64)
	check(err)
	fmt.Println(callsPerCPUSecond(stages[os.Args[1]](assets), seconds))
}

func signStage(int) func() {
	digests, at := someDigests(), 0
	return func() {
		sign(digests[at%signatures])
		at++
	}
}

// Recovers a signature's key, hashes it and compares the address.
func recoverStage(int) func() {
	digests, at := someDigests(), 0
	made := make([][]byte, signatures)
	for i, digest := range digests {
		made[i] = sign(digest)
	}
	publicKey, err := secp256k1.RecoverPubkey(digests[0], made[0])
	check(err)
	address := crypto.Keccak256(publicKey[1:])[12:]
	return func() {
		recovered, err := secp256k1.RecoverPubkey(digests[at%signatures], made[at%signatures])
		check(err)
		if !bytes.Equal(crypto.Keccak256(recovered[1:])[12:], address) {
			fail("another address was recovered")
		}
		at++
	}
}

// Writes the body of a frame, hashes it, signs it, and writes the finished frame.
func frameStage(assets int) func() {
	prices := make([]byte, assets*entryBytes)
	for i := range prices {
		prices[i] = byte(i * 7)
	}
	body := make([]byte, headBytes+len(prices))
	frame := make([]byte, len(frameHead)+2*(sigBytes+len(body))+len(frameTail))
	copy(frame, frameHead)
	copy(frame[len(frame)-len(frameTail):], frameTail)
	timeNs := uint64(timestampNs)
	return func() {
		timeNs++
		binary.BigEndian.PutUint16(body, taxonomy)
		binary.BigEndian.PutUint64(body[2:], timeNs)
		for i := 0; i < assets; i++ {
			copy(body[headBytes+i*entryBytes:], prices[i*entryBytes:(i+1)*entryBytes])
		}
		hex.Encode(frame[len(frameHead):], sign(crypto.Keccak256(body)))
		hex.Encode(frame[len(frameHead)+2*sigBytes:], body)
	}
}

func sign(digest []byte) []byte {
	signature, err := secp256k1.Sign(digest, key)
	check(err)
	return signature
}

func someDigests() [][]byte {
	digests := make([][]byte, signatures)
	for i := range digests {
		digests[i] = crypto.Keccak256([]byte{byte(i)})
	}
	return digests
}

func callsPerCPUSecond(run func(), seconds float64) float64 {
	repeat(run, seconds/4)
	calls, spent := repeat(run, seconds)
	return float64(calls) / spent
}

// Runs for that much CPU time.
func repeat(run func(), seconds float64) (calls int, spent float64) {
	start := cpuSeconds()
	for spent < seconds {
		for i := 0; i < 100; i++ {
			run()
		}
		calls += 100
		spent = cpuSeconds() - start
	}
	return calls, spent
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
