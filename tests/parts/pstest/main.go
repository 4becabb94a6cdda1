// A Pub/Sub server for tests: pstest, which keeps everything in memory and asks nobody who they are, with a door in
// front of it that can be locked, shut and opened again while the messages stay. At /messages it tells what it knows.
package main

import (
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"cloud.google.com/go/pubsub/v2/pstest"
)

var (
	port  = flag.Int("port", 0, "where it listens")
	cert  = flag.String("cert", "", "a certificate: the door speaks TLS")
	key   = flag.String("key", "", "its key")
	token = flag.String("token", "", "the only one that is let in")
)

func main() {
	flag.Parse()
	behind := pstest.NewServer()
	signals := make(chan os.Signal, 10)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM)
	inside := http.NewServeMux()
	inside.Handle("/", passedOn(behind.Addr))
	inside.Handle("/messages", told(behind))
	door := opened(guarded(inside))
	for {
		switch <-signals {
		case syscall.SIGUSR1:
			door.Close()
		case syscall.SIGUSR2:
			door = opened(guarded(inside))
		default:
			return
		}
	}
}

func opened(inside http.Handler) *http.Server {
	var listener net.Listener
	var err error
	// the port may be on its way back to us
	for range 100 {
		if listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port)); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		log.Fatal(err)
	}
	door := &http.Server{Handler: inside, Protocols: &http.Protocols{}, ErrorLog: log.Default()}
	door.Protocols.SetHTTP1(true)
	door.Protocols.SetUnencryptedHTTP2(true)
	door.Protocols.SetHTTP2(true)
	if *cert == "" {
		go door.Serve(listener)
		return door
	}
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		log.Fatal(err)
	}
	door.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}}
	go door.ServeTLS(listener, "", "")
	return door
}

func passedOn(behind string) http.Handler {
	transport := &http.Transport{Protocols: &http.Protocols{}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: behind})
	proxy.Transport = transport
	proxy.FlushInterval = -1
	// who has waited long enough hangs up; a server that counts along would break the call off as the door hears of it
	pass := proxy.Director
	proxy.Director = func(r *http.Request) {
		pass(r)
		r.Header.Del("Grpc-Timeout")
	}
	// an error without a message comes as headers alone, which a proxy would end with an empty body
	proxy.ModifyResponse = func(said *http.Response) error {
		for name := range said.Header {
			if name == "Grpc-Status" || name == "Grpc-Message" || name == "Grpc-Status-Details-Bin" {
				if said.Trailer == nil {
					said.Trailer = http.Header{}
				}
				said.Trailer[name] = said.Header[name]
				said.Header.Del(name)
			}
		}
		return nil
	}
	return proxy
}

func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if *token != "" && r.Header.Get("Authorization") != "Bearer "+*token {
			w.Header().Set("Content-Type", "application/grpc")
			w.Header().Set("Grpc-Status", "16")
			w.Header().Set("Grpc-Message", "Request had invalid authentication credentials.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// told lists the messages that a topic has ever had, and what subscribers said of them.
func told(behind *pstest.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found := []any{}
		for _, one := range behind.Messages() {
			if one.Topic == r.URL.Query().Get("topic") {
				found = append(found, one)
			}
		}
		json.NewEncoder(w).Encode(found)
	})
}
