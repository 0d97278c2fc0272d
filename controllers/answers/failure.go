package answers

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
)

// MalformedError says what is wrong with an answer.
type MalformedError string

// Error implements error.
func (e MalformedError) Error() string { return string(e) }

// Malformation says what is wrong with an answer; nothing when the connection is what failed.
func Malformation(err error) string {
	if malformed, ok := errors.AsType[MalformedError](err); ok {
		return malformed.Error()
	}
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	_, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer is cut off"
	case errors.Is(err, ErrTooLarge):
		return ErrTooLarge.Error()
	case isSyntax:
		return fmt.Sprintf("the answer is not JSON (at byte %d)", syntax.Offset)
	case isType:
		return "the answer is JSON of another form than it should have"
	}
	return ""
}

// Disconnection says why there was no answer. Of the errors of net/http only known ones are told: some quote what they got.
func Disconnection(err error) string {
	operation, isNetwork := errors.AsType[*net.OpError](err)
	certificate, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, isRecord := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.Is(err, ErrTooSlow):
		return ErrTooSlow.Error()
	case errors.Is(err, ErrPaused):
		return ErrPaused.Error()
	case isCertificate:
		return certificate.Error()
	case isRecord:
		return "the server does not speak TLS"
	case isNetwork:
		return operation.Error()
	case errors.Is(err, io.EOF):
		return "the connection ended without an answer"
	}
	return "the connection broke, or what came is not HTTP"
}
