// The loop of recovering signatures with go-ethereum's binding of libsecp256k1 and its Keccak-256.
// "go run . SECONDS" repeats it, and prints how often it ran in a second of CPU time.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/crypto/secp256k1"
)

const signatures = 256

func main() {
	if len(os.Args) != 2 {
		fail("usage: SECONDS")
	}
	seconds, err := strconv.ParseFloat(os.Args[1], 64)
	check(err)
	run := recoverOnce()
	repeat(run, seconds/4)
	calls, spent := repeat(run, seconds)
	fmt.Println(float64(calls) / spent)
}

// Recovers a signature's key, hashes it and compares the address.
func recoverOnce() func() {
	key := bytes.Repeat([]byte{1}, 32)
	digests, signed := make([][]byte, signatures), make([][]byte, signatures)
	for i := range digests {
		digests[i] = crypto.Keccak256([]byte{byte(i)})
		signature, err := secp256k1.Sign(digests[i], key)
		check(err)
		signed[i] = signature
	}
	publicKey, err := secp256k1.RecoverPubkey(digests[0], signed[0])
	check(err)
	address := crypto.Keccak256(publicKey[1:])[12:]
	at := 0
	return func() {
		recovered, err := secp256k1.RecoverPubkey(digests[at%signatures], signed[at%signatures])
		check(err)
		if !bytes.Equal(crypto.Keccak256(recovered[1:])[12:], address) {
			fail("another address was recovered")
		}
		at++
	}
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
