// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"encoding/hex"
	"strings"
)

// escape writes any text with letters that NATS allows in one token of a subject and in a key of a bucket: letters, digits,
// '_', '-' and '/' stand for themselves, any other byte becomes '=' and two hexadecimal digits. Different texts stay
// different, and a prefix of a text becomes a prefix of its writing.
func escape(text string) string {
	const digits = "0123456789ABCDEF"
	plain := true
	for i := range len(text) {
		plain = plain && isPlain(text[i])
	}
	if plain {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if isPlain(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('=')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

// unescape undoes escape. It refuses what escape would not have written.
func unescape(written string) (text string, ok bool) {
	if !strings.Contains(written, "=") {
		return written, isAllPlain(written)
	}
	var b strings.Builder
	for i := 0; i < len(written); i++ {
		c := written[i]
		if c != '=' {
			if !isPlain(c) {
				return "", false
			}
			b.WriteByte(c)
			continue
		}
		if i+2 >= len(written) {
			return "", false
		}
		raw, err := hex.DecodeString(written[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.WriteByte(raw[0])
		i += 2
	}
	text = b.String()
	return text, escape(text) == written
}

func isPlain(c byte) bool {
	return isAlphanumeric(c) || c == '_' || c == '-' || c == '/'
}

func isAllPlain(text string) bool {
	for i := range len(text) {
		if !isPlain(text[i]) {
			return false
		}
	}
	return true
}
