// "fan_out INTERVAL_MS FRAME" sends one frame to every connection at an interval, with github.com/gobwas/ws. The frame is
// compiled once. Each connection's first message is sent back to it.
package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: INTERVAL_MS FRAME")
	}
	intervalMs, err := strconv.Atoi(os.Args[1])
	check(err)
	frame := ws.MustCompileFrame(ws.NewTextFrame([]byte(os.Args[2])))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("{\"port\":%d}\n", listener.Addr().(*net.TCPAddr).Port)
	clients := &clients{}
	go func() {
		for range time.Tick(time.Duration(intervalMs) * time.Millisecond) {
			clients.send(frame)
		}
	}()
	for {
		connection, err := listener.Accept()
		check(err)
		go serve(connection, clients)
	}
}

// Sends the first message back and reads on to the end.
func serve(connection net.Conn, clients *clients) {
	defer connection.Close()
	if _, err := ws.Upgrade(connection); err != nil {
		return
	}
	first, err := wsutil.ReadClientText(connection)
	if err != nil || wsutil.WriteServerText(connection, first) != nil {
		return
	}
	clients.add(connection)
	for {
		if _, err := wsutil.ReadClientText(connection); err != nil {
			return
		}
	}
}

type clients struct {
	mutex       sync.Mutex
	connections []net.Conn
}

func (c *clients) add(connection net.Conn) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.connections = append(c.connections, connection)
}

// Drops connections that have ended.
func (c *clients) send(frame []byte) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for i := len(c.connections) - 1; i >= 0; i-- {
		if _, err := c.connections[i].Write(frame); err != nil {
			last := len(c.connections) - 1
			c.connections[i] = c.connections[last]
			c.connections = c.connections[:last]
		}
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
