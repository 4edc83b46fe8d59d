// "rest FILE TOKEN" answers the latest aggregates with net/http. FILE is the service's answer with all assets. The JSON of each
// aggregate is kept as it came; an answer joins those that are asked for.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: FILE TOKEN")
	}
	text, err := os.ReadFile(os.Args[1])
	check(err)
	var all struct{ Data map[string]json.RawMessage }
	check(json.Unmarshal(text, &all))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("{\"port\":%d}\n", listener.Addr().(*net.TCPAddr).Port)
	http.Handle("GET /v1/prices/latest", latest{all.Data, "Basic " + os.Args[2]})
	check(http.Serve(listener, nil))
}

type latest struct {
	bySymbol      map[string]json.RawMessage
	authorization string
}

func (l latest) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Header.Get("Authorization") != l.authorization {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	symbols := strings.Split(request.URL.Query().Get("assets"), ",")
	length := len(`{"data":{}}`)
	for _, symbol := range symbols {
		length += len(l.bySymbol[symbol]) + len(symbol) + len(`,"":`)
	}
	body := append(make([]byte, 0, length), `{"data":{`...)
	for i, symbol := range symbols {
		aggregate, isKnown := l.bySymbol[symbol]
		if !isKnown {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, '"')
		body = append(body, symbol...)
		body = append(body, `":`...)
		body = append(body, aggregate...)
	}
	body = append(body, `}}`...)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
