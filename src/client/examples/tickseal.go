// Reads prices of a tickseal service and verifies the signature of each, and publishes prices.
//
//	go run . stream BTCUSD '#2'
//	go run . publish BTCUSD=95000.5 ETHUSD=3400      (or lines of standard input)
//
// The environment names the service: TICKSEAL_URL and TICKSEAL_TOKEN. To read: SIGNER, the address whose signature counts, from the operator
// and not from the service, and if wanted ATTRS, such as ms,quality. To publish: PUBLISHER_KEY in hex, and ORACLE_ID if it is not mykey.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"golang.org/x/crypto/sha3"
)

const (
	frameBytesMax = 8 << 20
	ageMax        = 10 * time.Second // recorded frames have valid signatures too
	delayMax      = 30 * time.Second
)

var (
	scale = big.NewInt(1_000_000_000_000_000_000)
	// attributes are in the order of their bits in the mask, from bit 1 on, with the sizes of their values.
	attributes = []struct {
		name string
		size int
	}{{"ms", 1}, {"age", 4}, {"n", 1}, {"spread", 4}}
)

type asset struct {
	ID   uint16 `json:"asset_id"`
	Type string `json:"signature_type"`
	Name string
}

// taxonomy has the symbols of streaming IDs, as SIGNER has signed them.
type taxonomy struct {
	id     uint16
	assets []asset
}

func main() {
	log.SetFlags(0)
	require(len(os.Args) > 1, "use: stream SYMBOL…, or publish SYMBOL=PRICE…")
	switch os.Args[1] {
	case "stream":
		stream(os.Args[2:])
	case "publish":
		publish(os.Args[2:])
	default:
		log.Fatalf("%q: use stream or publish", os.Args[1])
	}
}

// require ends the program with a message unless ok.
func require(ok bool, format string, values ...any) {
	if !ok {
		log.Fatalf(format, values...)
	}
}

// setting returns a variable of the environment.
func setting(name string) string {
	value := os.Getenv(name)
	require(value != "", "set %s in the environment", name)
	return value
}

func keccak256(parts ...[]byte) []byte {
	hash := sha3.NewLegacyKeccak256()
	for _, part := range parts {
		hash.Write(part)
	}
	return hash.Sum(nil)
}

func addressOf(key *secp256k1.PublicKey) []byte {
	return keccak256(key.SerializeUncompressed()[1:])[12:]
}

// connect opens a WebSocket. A refusal ends the program, and an error is worth another attempt.
func connect(path string) (*websocket.Conn, error) {
	header := http.Header{"Authorization": {"Basic " + setting("TICKSEAL_TOKEN")}}
	address := strings.Replace(setting("TICKSEAL_URL"), "http", "ws", 1) + path
	socket, response, err := websocket.Dial(context.Background(), address, &websocket.DialOptions{HTTPHeader: header})
	if err != nil && response != nil {
		err = refusal(response)
	}
	if err == nil {
		socket.SetReadLimit(frameBytesMax) // the default, 32 KiB, is less than a frame of two thousand assets
	}
	return socket, err
}

// refusal ends the program with the service's words, or returns an error if the service is only busy.
func refusal(response *http.Response) error {
	words, _ := io.ReadAll(io.LimitReader(response.Body, 200))
	require(response.StatusCode >= 500 || response.StatusCode == 429, "%s: %q", response.Status, words)
	return fmt.Errorf("%s: %q", response.Status, words)
}

// stream prints prices, and connects again after a loss, for ever.
func stream(names []string) {
	require(len(names) > 0, "name symbols, or IDs such as '#2'")
	query := url.Values{"channel": {"1s"}, "message_type": {"signed_ecdsa"}}
	if value := os.Getenv("ATTRS"); value != "" {
		query.Set("addtl_attrs", value)
	}
	delay := time.Second / 4
	for {
		count, err := streamOnce(names, "/ws?"+query.Encode())
		if count > 0 {
			delay = time.Second / 4
		}
		log.Printf("%q; connecting again", err)
		time.Sleep(delay)
		delay = min(2*delay, delayMax)
	}
}

// streamOnce prints prices until the connection is lost, and returns the number of its frames.
func streamOnce(names []string, path string) (count int, err error) {
	known, err := readTaxonomy()
	if err != nil {
		return 0, err
	}
	var ids []uint16
	for _, name := range names {
		ids = append(ids, known.idOf(name))
	}
	socket, err := connect(path)
	if err != nil {
		return 0, err
	}
	defer socket.CloseNow()
	subscribe, _ := json.Marshal(map[string]any{"type": "subscribe", "assets": ids})
	if err := socket.Write(context.Background(), websocket.MessageText, subscribe); err != nil {
		return 0, err
	}
	go closeSilent(socket)
	for ; ; count++ {
		_, text, err := socket.Read(context.Background())
		if err != nil {
			require(websocket.CloseStatus(err) != 4401, "the token was revoked")
			return count, err
		}
		var frame struct{ Type, P, Error string }
		err = json.Unmarshal(text, &frame)
		require(err == nil && frame.Type == "signed_ecdsa", "the service says %q %v", frame.Error, err)
		if err := known.show(frame.P, ids); err != nil {
			return count, err
		}
	}
}

// closeSilent closes a socket that does not answer a ping. Silence alone may mean that there is no price.
func closeSilent(socket *websocket.Conn) {
	for {
		time.Sleep(10 * time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err := socket.Ping(ctx)
		cancel()
		if err != nil {
			socket.CloseNow()
			return
		}
	}
}

func readTaxonomy() (*taxonomy, error) {
	request, err := http.NewRequest("GET", setting("TICKSEAL_URL")+"/v1/taxonomy", nil)
	require(err == nil, "%v", err)
	request.Header.Set("Authorization", "Basic "+setting("TICKSEAL_TOKEN"))
	client := http.Client{Timeout: 10 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, refusal(response)
	}
	var answer struct {
		Data struct {
			Statement string
			Assets    []asset
		}
	}
	err = json.NewDecoder(response.Body).Decode(&answer)
	require(err == nil, "/v1/taxonomy: %v", err)
	return &taxonomy{checkMeaning(answer.Data.Statement, answer.Data.Assets), answer.Data.Assets}, nil
}

// checkMeaning sorts the assets and returns the taxonomy ID under which SIGNER signed what their IDs mean.
func checkMeaning(statement string, assets []asset) uint16 {
	body := signedBody(statement, "\xfftickseal-taxonomy/v1")
	slices.SortFunc(assets, func(a, b asset) int { return int(a.ID) - int(b.ID) })
	var entries []byte
	for _, a := range assets {
		entries = append(binary.BigEndian.AppendUint16(entries, a.ID), map[string]byte{"stark": 1}[a.Type])
		entries = append(binary.BigEndian.AppendUint16(entries, uint16(len(a.Name))), a.Name...)
	}
	listed := append(binary.BigEndian.AppendUint32(nil, uint32(len(assets))), keccak256(entries)...)
	require(bytes.Equal(body[10:], listed), "unsigned mapping: no statement fits these streaming IDs")
	return binary.BigEndian.Uint16(body)
}

// idOf returns the ID of a symbol, or of '#' and an ID. A symbol that has both types means its EVM asset.
func (t *taxonomy) idOf(name string) uint16 {
	for _, kind := range []string{"evm", "stark"} {
		for _, a := range t.assets {
			if a.Type == kind && (name == a.Name || name == fmt.Sprintf("#%d", a.ID)) {
				return a.ID
			}
		}
	}
	log.Fatalf("%q: the service has no such asset; /v1/taxonomy lists them", name)
	return 0
}

// signedBody returns what SIGNER signed: of a payload or, with its prefix, of a statement.
func signedBody(text, prefix string) []byte {
	data, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	require(err == nil && len(data) >= 75, "not signed: %q", text)
	var s secp256k1.ModNScalar
	require(!s.SetByteSlice(data[32:64]) && !s.IsOverHalfOrder() && data[64] < 2, "a high s or another v: %q", text)
	digest := keccak256([]byte(prefix), data[65:])
	key, _, err := ecdsa.RecoverCompact(append([]byte{27 + data[64]}, data[:64]...), digest)
	require(err == nil, "%v", err)
	address, signer := "0x"+hex.EncodeToString(addressOf(key)), setting("SIGNER")
	require(address == strings.ToLower(signer), "signed by %s, not by %s", address, signer)
	return data[65:]
}

// show prints the wanted assets of a payload, if SIGNER signed it a moment ago. Another taxonomy is an error that a new connection mends.
func (t *taxonomy) show(payload string, ids []uint16) error {
	mask, body := uint16(1), signedBody(payload, "")
	if bytes.HasPrefix(body, []byte{0xff, 2}) {
		mask, body = binary.BigEndian.Uint16(body[2:]), body[4:]
	}
	if binary.BigEndian.Uint16(body) != t.id {
		return fmt.Errorf("another taxonomy")
	}
	age := time.Since(time.Unix(0, int64(binary.BigEndian.Uint64(body[2:]))))
	require(age.Abs() <= ageMax, "too old, or this clock is wrong")
	size := 18
	for i, attribute := range attributes {
		size += int(mask>>(i+1)&1) * attribute.size
	}
	require(mask&1 == 1 && mask < 32 && (len(body)-10)%size == 0, "no payload of this layout")
	for entry := range slices.Chunk(body[10:], size) {
		id, values, at := binary.BigEndian.Uint16(entry), "", 18
		for i, attribute := range attributes {
			if mask>>(i+1)&1 == 1 {
				values += fmt.Sprintf(" %s=%d", attribute.name, new(big.Int).SetBytes(entry[at:at+attribute.size]))
				at += attribute.size
			}
		}
		for _, a := range t.assets {
			if a.ID == id && slices.Contains(ids, id) {
				fmt.Printf("%s %s verified, %d ms old%s\n", a.Name, decimal(entry[2:18]), age.Milliseconds(), values)
			}
		}
	}
	return nil
}

// decimal returns the exact text of a signed 128-bit integer times 10^-18.
func decimal(value []byte) string {
	price := new(big.Int).SetBytes(value)
	if value[0] >= 0x80 {
		price.Sub(price, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return new(big.Rat).SetFrac(price, scale).FloatString(18)
}

// publish sends each price, and ends with the first that the service rejects.
func publish(prices []string) {
	text, err := hex.DecodeString(strings.TrimPrefix(setting("PUBLISHER_KEY"), "0x"))
	require(err == nil && len(text) == 32, "PUBLISHER_KEY must have 64 hex digits")
	key := secp256k1.PrivKeyFromBytes(text)
	socket, err := connect("/evm/publish?ack=true")
	require(err == nil, "%v", err)
	defer socket.CloseNow()
	lines := bufio.NewScanner(os.Stdin)
	if len(prices) > 0 {
		lines = bufio.NewScanner(strings.NewReader(strings.Join(prices, "\n")))
	}
	for lines.Scan() {
		symbol, price, isPair := strings.Cut(lines.Text(), "=")
		value, isNumber := new(big.Rat).SetString(price)
		require(isPair && isNumber, "%q must be SYMBOL=PRICE, such as BTCUSD=95000.5", lines.Text())
		value.Mul(value, new(big.Rat).SetInt(scale))
		require(value.IsInt(), "%q has more than 18 decimals", lines.Text())
		err := socket.Write(context.Background(), websocket.MessageText, update(key, symbol, value.Num()))
		require(err == nil, "%v", err)
		_, answer, err := socket.Read(context.Background())
		var ack struct {
			Type, Error string
			Rejected    map[string]string
		}
		require(err == nil && json.Unmarshal(answer, &ack) == nil, "%v", err)
		require(ack.Type == "ack" && len(ack.Rejected) == 0, "rejected: %q %q", ack.Error, ack.Rejected)
		fmt.Println(symbol, price, "accepted")
	}
}

// update returns a message with one signed price. The signature covers whole seconds.
func update(key *secp256k1.PrivateKey, symbol string, price *big.Int) []byte {
	now, address := time.Now(), addressOf(key.PubKey())
	word := func(value *big.Int) []byte {
		return new(big.Int).And(value, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))).FillBytes(make([]byte, 32))
	}
	hash := keccak256(address, []byte(symbol), word(big.NewInt(now.Unix())), word(price))
	signature := ecdsa.SignCompact(key, keccak256([]byte("\x19Ethereum Signed Message:\n32"), hash), false)
	text := func(bytes []byte) string { return "0x" + hex.EncodeToString(bytes) }
	oracle := os.Getenv("ORACLE_ID")
	if oracle == "" {
		oracle = "mykey"
	}
	message, _ := json.Marshal(map[string]any{
		"type": "signed_prices", "trace_id": fmt.Sprint(now.UnixNano()), "data": map[string]any{symbol: map[string]any{
			"oracle_id": oracle, "asset_id": symbol, "trigger": "clock", "signed_price": map[string]any{
				"publisher_key": text(address), "external_asset_id": symbol, "signature_type": "evm", "price": price.String(),
				"timestamped_signature": map[string]any{
					"signature": map[string]any{"r": text(signature[1:33]), "s": text(signature[33:]), "v": text(signature[:1])},
					"timestamp": fmt.Sprint(now.UnixNano()), "msg_hash": text(hash),
				},
			},
		}},
	})
	return message
}
