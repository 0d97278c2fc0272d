package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"
)

// Status answers with a status, headers (pairs of name and value) and a body of the proxy's own.
func Status(code int, body string, headers ...string) Fault {
	return func(_ *Proxy, w http.ResponseWriter, _ *http.Request, _ <-chan struct{}) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body) // Whoever does not wait for it needs no body.
	}
}

// Delay passes a request on after a while.
func Delay(by time.Duration) Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request, thaw <-chan struct{}) {
		select {
		case <-time.After(by):
		case <-thaw:
		case <-r.Context().Done():
			return
		}
		p.pass.ServeHTTP(w, r)
	}
}

// Freeze takes requests and answers none.
func Freeze() Fault {
	return func(_ *Proxy, _ http.ResponseWriter, r *http.Request, thaw <-chan struct{}) {
		hold(r, thaw)
		panic(http.ErrAbortHandler)
	}
}

// FreezeHalfWay sends half of the server's answer, and nothing more.
func FreezeHalfWay() Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request, thaw <-chan struct{}) {
		answer := p.answer(r)
		body := answer.Body.Bytes()
		send(w, answer, body[:len(body)/2], len(body))
		hold(r, thaw)
		panic(http.ErrAbortHandler)
	}
}

// CutOff sends half of the server's answer and then ends the connection.
func CutOff() Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
		answer := p.answer(r)
		body := answer.Body.Bytes()
		send(w, answer, body[:len(body)/2], len(body))
		panic(http.ErrAbortHandler)
	}
}

// Half sends half of the server's answer as if it were all of it.
func Half() Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
		answer := p.answer(r)
		half := answer.Body.Bytes()[:answer.Body.Len()/2]
		send(w, answer, half, len(half))
	}
}

// Reset ends the connection instead of answering.
func Reset() Fault {
	return func(*Proxy, http.ResponseWriter, *http.Request, <-chan struct{}) { panic(http.ErrAbortHandler) }
}

// Loop makes pages of one record each, and every page the first.
func Loop() Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
		query := r.URL.Query()
		query.Set("limit", "1")
		query.Del("marker")
		r.URL.RawQuery = query.Encode()
		p.pass.ServeHTTP(w, r)
	}
}

// Short gives one record, and no link to the others.
func Short() Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
		query := r.URL.Query()
		query.Set("limit", "1")
		r.URL.RawQuery = query.Encode()
		answer := p.answer(r)
		var page map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &page); err != nil {
			panic(fmt.Sprintf("the server's page is not JSON: %v", err))
		}
		if links, ok := page["links"].(map[string]any); ok {
			delete(links, "next")
		}
		body, err := json.Marshal(page)
		if err != nil {
			panic(err)
		}
		send(w, answer, body, len(body))
	}
}

// answer is what the server answers.
func (p *Proxy) answer(r *http.Request) *httptest.ResponseRecorder {
	// What is compressed could not be cut between two records.
	r.Header.Del("Accept-Encoding")
	answer := httptest.NewRecorder()
	p.pass.ServeHTTP(answer, r)
	return answer
}

// send sends a body that claims a length.
func send(w http.ResponseWriter, answer *httptest.ResponseRecorder, body []byte, length int) {
	maps.Copy(w.Header(), answer.Header())
	w.Header().Set("Content-Length", strconv.Itoa(length))
	w.WriteHeader(answer.Code)
	_, _ = io.Copy(w, bytes.NewReader(body)) // Whoever does not wait for it needs no body.
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
}

// hold keeps a request until the fault is mended or nobody waits any more.
func hold(r *http.Request, thaw <-chan struct{}) {
	select {
	case <-thaw:
	case <-r.Context().Done():
	}
}

// Lost lets the server do what is asked, and ends the connection instead of passing its answer on.
func Lost() Fault {
	return func(p *Proxy, _ http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
		p.answer(r)
		panic(http.ErrAbortHandler)
	}
}

// Before lets something happen before a request is passed on.
func Before(happen func()) Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
		happen()
		p.pass.ServeHTTP(w, r)
	}
}

// After lets something happen after the server has answered, before the answer is passed on.
func After(happen func()) Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
		answer := p.answer(r)
		happen()
		body := answer.Body.Bytes()
		send(w, answer, body, len(body))
	}
}

// Around has somebody decide about each request, who may pass it on; the connection ends when they say no.
func Around(decide func(r *http.Request, pass func()) bool) Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request, _ <-chan struct{}) {
		answer := httptest.NewRecorder()
		if !decide(r, func() { answer = p.answer(r) }) {
			panic(http.ErrAbortHandler)
		}
		body := answer.Body.Bytes()
		send(w, answer, body, len(body))
	}
}
