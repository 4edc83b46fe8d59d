package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const (
	tileHeight   = 8
	tileWidth    = 1 << tileHeight
	recordBytes  = 105
	fileBytesMax = 64 << 20
	attemptsMax  = 20
)

var client = &http.Client{Timeout: 10 * time.Second}

// judgeServed checks a whole log over HTTP: the signature of its checkpoint, every tile, every record of every batch, and the
// consistency of the checkpoint with older ones.
func judgeServed(one Case) (verdict Verdict, err error) {
	verifier, err := note.NewVerifier(one.Keys[0])
	if err != nil {
		return verdict, err
	}
	served, err := get(one.URL, "checkpoint")
	if err != nil {
		return verdict, err
	}
	tree, err := openCheckpoint(served, verifier)
	if err != nil {
		return verdict, err
	}
	entries, err := readEntries(one.URL, tree.N)
	if err != nil {
		return verdict, err
	}
	hashes, err := hashEntries(entries)
	if err != nil {
		return verdict, err
	}
	if root, err := tlog.TreeHash(tree.N, hashes); err != nil || root != tree.Hash {
		return verdict, fmt.Errorf("the entries do not give the signed root: %v", err)
	}
	if err := checkTiles(one.URL, tree.N, hashes); err != nil {
		return verdict, err
	}
	for i, entry := range entries {
		count, err := checkBatch(one.URL, int64(i), string(entry))
		if err != nil {
			return verdict, fmt.Errorf("batch %d: %w", i, err)
		}
		verdict.Records += count
	}
	// The reader fetches only the tiles that a proof needs, and checks them against the signed root.
	reader := tlog.TileHashReader(tree, tilesOf(one.URL))
	for _, text := range one.Earlier {
		older, err := openCheckpoint(text, verifier)
		if err != nil {
			return verdict, err
		}
		if older.N == 0 {
			continue
		}
		proof, err := tlog.ProveTree(tree.N, older.N, reader)
		if err != nil {
			return verdict, err
		}
		if err := tlog.CheckTree(proof, tree.N, tree.Hash, older.N, older.Hash); err != nil {
			return verdict, err
		}
	}
	verdict.Size = tree.N
	return verdict, nil
}

func openCheckpoint(text []byte, verifier note.Verifier) (tree tlog.Tree, err error) {
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return tree, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return tree, fmt.Errorf("a checkpoint of another log")
	}
	if tree.N, err = strconv.ParseInt(lines[1], 10, 64); err != nil {
		return tree, err
	}
	tree.Hash, err = tlog.ParseHash(lines[2])
	return tree, err
}

func readEntries(url string, size int64) (entries [][]byte, err error) {
	for start := int64(0); start < size; start += tileWidth {
		width := min(size-start, tileWidth)
		tile := tlog.Tile{H: tileHeight, L: -1, N: start / tileWidth, W: int(width)}
		bundle, err := get(url, strings.Replace(tile.Path(), "tile/8/data/", "tile/entries/", 1))
		if err != nil {
			return nil, err
		}
		for len(bundle) >= 2 {
			end := 2 + int(binary.BigEndian.Uint16(bundle))
			if end > len(bundle) {
				break
			}
			entries, bundle = append(entries, bundle[2:end]), bundle[end:]
		}
		if len(bundle) > 0 || int64(len(entries)) != start+width {
			return nil, fmt.Errorf("the bundle at %d is malformed", start)
		}
	}
	return entries, nil
}

func hashEntries(entries [][]byte) (tlog.HashReader, error) {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (hashes []tlog.Hash, err error) {
		for _, index := range indexes {
			if index >= int64(len(stored)) {
				return nil, fmt.Errorf("no hash %d", index)
			}
			hashes = append(hashes, stored[index])
		}
		return hashes, nil
	})
	for i, entry := range entries {
		hashes, err := tlog.StoredHashes(int64(i), entry, reader)
		if err != nil {
			return nil, err
		}
		stored = append(stored, hashes...)
	}
	return reader, nil
}

// checkTiles compares every served tile with the tile that the entries give.
func checkTiles(url string, size int64, hashes tlog.HashReader) error {
	for _, tile := range tlog.NewTiles(tileHeight, 0, size) {
		expected, err := tlog.ReadTileData(tile, hashes)
		if err != nil {
			return err
		}
		found, err := get(url, pathOf(tile))
		if err != nil {
			return err
		}
		if !bytes.Equal(found, expected) {
			return fmt.Errorf("%s has other hashes", pathOf(tile))
		}
	}
	return nil
}

// checkBatch computes the root over the records of a batch, and compares the root with the entry of the batch.
func checkBatch(url string, batch int64, entry string) (int, error) {
	tile := tlog.Tile{H: tileHeight, L: 0, N: batch, W: tileWidth}
	data, err := get(url, strings.Replace(tile.Path(), "tile/8/0/", "batch/", 1))
	if err != nil {
		return 0, err
	}
	if len(data)%recordBytes != 0 {
		return 0, fmt.Errorf("%d bytes", len(data))
	}
	var records [][]byte
	for ; len(data) > 0; data = data[recordBytes:] {
		records = append(records, data[:recordBytes])
	}
	hashes, err := hashEntries(records)
	if err != nil {
		return 0, err
	}
	root, err := tlog.TreeHash(int64(len(records)), hashes)
	if err != nil {
		return 0, err
	}
	expected := fmt.Sprintf("\nrecords %d\nroot %s\n", len(records), base64.StdEncoding.EncodeToString(root[:]))
	if !strings.HasSuffix(entry, expected) {
		return 0, fmt.Errorf("the records do not give the entry %q", entry)
	}
	return len(records), nil
}

// tilesOf reads the tiles of a served log.
type tilesOf string

func (url tilesOf) Height() int { return tileHeight }

func (url tilesOf) SaveTiles([]tlog.Tile, [][]byte) {}

func (url tilesOf) ReadTiles(tiles []tlog.Tile) (data [][]byte, err error) {
	for _, tile := range tiles {
		bytes, err := get(string(url), pathOf(tile))
		if err != nil {
			return nil, err
		}
		data = append(data, bytes)
	}
	return data, nil
}

func pathOf(tile tlog.Tile) string {
	return strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
}

// get reads a file. It waits and asks again when the service answers that there were too many requests.
func get(url, path string) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		response, err := client.Get(url + "/" + path)
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(response.Body, fileBytesMax))
		response.Body.Close()
		if response.StatusCode == http.StatusTooManyRequests && attempt < attemptsMax {
			time.Sleep(time.Second)
			continue
		}
		if response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s: %s", path, response.Status)
		}
		return data, err
	}
}
