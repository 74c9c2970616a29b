package httpdiff

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Decode decodes one JSON value, with numbers as json.Number. Data after the value is an error.
func Decode(text []byte, into any) error {
	return decodeOne(json.NewDecoder(bytes.NewReader(text)), into)
}

// DecodeStrictly is like Decode, but returns an error for unknown fields.
func DecodeStrictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return decodeOne(d, into)
}

func decodeOne(d *json.Decoder, into any) error {
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data after the JSON value")
	}
	return nil
}
