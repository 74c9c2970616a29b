package httpdiff

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Decode reads one JSON value and keeps numbers as they are written. What stands behind the value is an error.
func Decode(text []byte, into any) error {
	return decodeOne(json.NewDecoder(bytes.NewReader(text)), into)
}

// DecodeStrictly is Decode that refuses unknown keys.
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
		return errors.New("there is something behind the JSON value")
	}
	return nil
}
