// Judges the cases of a test by the Go implementation of logs, golang.org/x/mod/sumdb.
//
// Reads a JSON array of cases from standard input, and prints a JSON array with a verdict for each.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Case is a question. Kind names the fields that it uses.
type Case struct {
	Kind   string
	Note   []byte   // note
	Keys   []string // note: verifier keys, of logs or of witnesses
	Leaf   []byte   // inclusion
	Index  int64    // inclusion, files
	Older  int64    // consistency, files
	Size   int64
	Root   []byte
	Other  []byte   // consistency: the root of the older tree
	Hashes [][]byte // inclusion, consistency
	Folder string   // files: the folder of a log, which has tiles of this size
}

// Verdict is the answer to a case.
type Verdict struct {
	Accepted    bool
	Verified    int      // note: the number of verified signatures
	Root        []byte   // files
	Inclusion   [][]byte // files
	Consistency [][]byte // files
	Reason      string   // the reason of a refusal
}

func main() {
	var cases []Case
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	verdicts := make([]Verdict, len(cases))
	for i, one := range cases {
		verdict, err := judge(one)
		if err != nil {
			verdicts[i] = Verdict{Reason: err.Error()}
			continue
		}
		verdict.Accepted = true
		verdicts[i] = verdict
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		os.Exit(1)
	}
}

func judge(one Case) (verdict Verdict, err error) {
	switch one.Kind {
	case "note":
		return judgeNote(one)
	case "inclusion":
		root, leaf, hashes, err := hashesOf(one.Root, one.Leaf, one.Hashes)
		if err != nil {
			return verdict, err
		}
		return verdict, tlog.CheckRecord(tlog.RecordProof(hashes), one.Size, root, one.Index, leaf)
	case "consistency":
		root, other, hashes, err := hashesOf(one.Root, one.Other, one.Hashes)
		if err != nil {
			return verdict, err
		}
		return verdict, tlog.CheckTree(tlog.TreeProof(hashes), one.Size, root, one.Older, other)
	case "files":
		return readFiles(one)
	}
	return verdict, fmt.Errorf("unknown kind %q", one.Kind)
}

func judgeNote(one Case) (verdict Verdict, err error) {
	var verifiers []note.Verifier
	for _, key := range one.Keys {
		verifier, err := note.NewVerifier(key)
		if err != nil {
			verifier, err = fnote.NewVerifierForCosignatureV1(key)
		}
		if err != nil {
			return verdict, err
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open(one.Note, note.VerifierList(verifiers...))
	if err != nil {
		return verdict, err
	}
	verdict.Verified = len(opened.Sigs)
	return verdict, nil
}

func readFiles(one Case) (verdict Verdict, err error) {
	root, _, _, err := hashesOf(one.Root, one.Root, nil)
	if err != nil {
		return verdict, err
	}
	// The reader checks every tile against the root.
	reader := tlog.TileHashReader(tlog.Tree{N: one.Size, Hash: root}, files(one.Folder))
	tree, err := tlog.TreeHash(one.Size, reader)
	if err != nil {
		return verdict, err
	}
	inclusion, err := tlog.ProveRecord(one.Size, one.Index, reader)
	if err != nil {
		return verdict, err
	}
	consistency, err := tlog.ProveTree(one.Size, one.Older, reader)
	if err != nil {
		return verdict, err
	}
	return Verdict{Root: tree[:], Inclusion: bytesOf(inclusion), Consistency: bytesOf(consistency)}, nil
}

// files reads the tiles of a folder, whose paths do not name the height.
type files string

func (folder files) Height() int { return 8 }

func (folder files) SaveTiles([]tlog.Tile, [][]byte) {}

func (folder files) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var data [][]byte
	for _, tile := range tiles {
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		bytes, err := os.ReadFile(filepath.Join(string(folder), path))
		if err != nil {
			return nil, err
		}
		data = append(data, bytes)
	}
	return data, nil
}

func hashesOf(first, second []byte, others [][]byte) (a, b tlog.Hash, hashes []tlog.Hash, err error) {
	all := append([][]byte{first, second}, others...)
	for _, bytes := range all {
		if len(bytes) != tlog.HashSize {
			return a, b, nil, fmt.Errorf("a hash of %d bytes", len(bytes))
		}
		hashes = append(hashes, tlog.Hash(bytes))
	}
	return hashes[0], hashes[1], hashes[2:], nil
}

func bytesOf(hashes []tlog.Hash) [][]byte {
	bytes := make([][]byte, len(hashes))
	for i := range hashes {
		bytes[i] = hashes[i][:]
	}
	return bytes
}
