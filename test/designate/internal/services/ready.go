//go:build linux

package services

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// answerTimeout is how long a service that is being asked whether it is ready may take to answer.
const answerTimeout = 10 * time.Second

// logFile is what a process has written to a log.
type logFile struct {
	path   string
	offset int64
}

// says is ready when the log has a text in it.
func says(text string) func(context.Context, logFile) error {
	return func(_ context.Context, log logFile) error {
		file, err := os.Open(log.path)
		if err != nil {
			return err
		}
		defer file.Close()
		if _, err := file.Seek(log.offset, io.SeekStart); err != nil {
			return err
		}
		written, err := io.ReadAll(file)
		if err == nil && !bytes.Contains(written, []byte(text)) {
			err = fmt.Errorf("it has not logged %q yet", text)
		}
		return err
	}
}

// answersHTTP is ready when there is an answer of one of the statuses.
func answersHTTP(url string, headers map[string]string, status int) func(context.Context, logFile) error {
	return func(ctx context.Context, _ logFile) error {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		for name, value := range headers {
			request.Header.Set(name, value)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != status {
			return errors.New(response.Status)
		}
		return nil
	}
}

// accepts is ready when all addresses accept connections.
func accepts(addresses ...string) func(context.Context, logFile) error {
	return func(ctx context.Context, _ logFile) error {
		for _, address := range addresses {
			connection, err := (&net.Dialer{Timeout: answerTimeout}).DialContext(ctx, "tcp", address)
			if err != nil {
				return err
			}
			connection.Close()
		}
		return nil
	}
}

// greetsAMQP is ready when RabbitMQ answers the header of the protocol with its own first method.
func greetsAMQP(address string) func(context.Context, logFile) error {
	return func(ctx context.Context, _ logFile) error {
		connection, err := (&net.Dialer{Timeout: answerTimeout}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		defer connection.Close()
		if err := connection.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
			return err
		}
		if _, err := io.WriteString(connection, "AMQP\x00\x00\x09\x01"); err != nil {
			return err
		}
		_, err = io.ReadFull(connection, make([]byte, 1))
		return err
	}
}
