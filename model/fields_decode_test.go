// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"bytes"
	"strings"
	"testing"

	"allot/model"
)

// parcel has every kind of variable, with small and large bounds.
type parcel struct {
	small int8
	large int
	size  uint8
	fast  bool
	lanes []lane
	kind  uint8
	until int64
	codes []uint16
}

type lane struct {
	a uint8
	b bool
}

func (p *parcel) visit(f *model.Fields) {
	model.Int(f, "small", &p.small, -2, 3)
	model.Int(f, "large", &p.large, 0, 1000)
	model.Enum(f, "size", &p.size, "S", "M", "L")
	model.Bool(f, "fast", &p.fast)
	model.List(f, "lanes", &p.lanes, 3, func(f *model.Fields, name string, l *lane) {
		model.Int(f, name+".a", &l.a, 0, 5)
		model.Bool(f, name+".b", &l.b)
	})
	model.Union(f, "kind", &p.kind, []string{"plain", "timed", "coded"}, func(f *model.Fields, kind uint8) {
		switch kind {
		case 1:
			model.Int(f, "until", &p.until, -1<<62, 1<<62)
		case 2:
			model.List(f, "codes", &p.codes, 1<<20, func(f *model.Fields, name string, code *uint16) {
				model.Int(f, name, code, 0, 1<<15)
			})
		}
	})
}

// parcels are examples with their encodings. The encoding is what nodes send each other: it does not change unnoticed.
var parcels = []struct {
	name string
	p    parcel
	data string
}{
	{"zero", parcel{}, "\x02\x00\x00\x00\x00\x00"},
	{"ends of bounds", parcel{small: 3, large: 1000, size: 2, fast: true}, "\x05\xe8\x07\x02\x01\x00\x00"},
	{"lists", parcel{small: -2, lanes: []lane{{5, true}, {0, false}}}, "\x00\x00\x00\x00\x02\x05\x01\x00\x00\x00"},
	{"timed", parcel{kind: 1, until: -1 << 62}, "\x02\x00\x00\x00\x00\x01\x00"},
	{"codes", parcel{kind: 2, codes: []uint16{0, 128, 1 << 15}}, "\x02\x00\x00\x00\x00\x02\x03\x00\x80\x01\x80\x80\x02"},
}

func TestDecodeRefuses(t *testing.T) {
	for _, test := range parcels {
		data := model.Encode(nil, test.p.visit)
		if string(data) != test.data {
			t.Errorf("%s is encoded as %q, want %q", test.name, data, test.data)
		}
		var p parcel
		for n := range data {
			if err := model.Decode(data[:n], p.visit); err == nil || !strings.Contains(err.Error(), "it ends too early") {
				t.Errorf("%s, %d of %d bytes: %v", test.name, n, len(data), err)
			}
		}
		if err := model.Decode(append(data, 0, 0), p.visit); err == nil || err.Error() != "2 bytes too many" {
			t.Errorf("%s and two bytes more: %v", test.name, err)
		}
	}
	for _, test := range []struct{ data, want string }{
		{"\x06\x00\x00\x00\x00\x00", "variable small: 6 is more than 5"},
		{"\x02\xe9\x07\x00\x00\x00\x00", "variable large: 1001 is more than 1000"},
		{"\x02\x80\x00\x00\x00\x00\x00", "variable large: 0 is written in more bytes than it needs"},
		{"\x02\xff\x00\x00\x00\x00\x00", "variable large: 127 is written in more bytes than it needs"},
		{"\x02\xff\x80\x00\x00\x00\x00\x00", "variable large: 127 is written in more bytes than it needs"},
		{"\x02" + strings.Repeat("\xff", 9) + "\x02", "variable large"}, // more than 64 bits
		{"\x02" + strings.Repeat("\xff", 20), "variable large"},
		{"\x02\x00\x03\x00\x00\x00", "variable size: 3 is more than 2"},
		{"\x02\x00\x00\x02\x00\x00", "variable fast: 2 is more than 1"},
		{"\x02\x00\x00\x00\x04\x00", "variable lanes: 4 is more than 3"},
		{"\x02\x00\x00\x00\x01\x06\x00\x00", "variable lanes.a: 6 is more than 5"},
		{"\x02\x00\x00\x00\x00\x03", "variable kind: 3 is more than 2"},
		{"\x02\x00\x00\x00\x00\x02\x81\x80\x40", "variable codes: 1048577 is more than 1048576"},
		{"\x02\x00\x00\x00\x00\x02\xff\xff\x3f", "variable codes: it ends too early"},
	} {
		var p parcel
		if err := model.Decode([]byte(test.data), p.visit); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.data, err, test.want)
		}
	}
}

// TestDecodeForgetsWhatWasThere: decoding into used memory gives the same as into fresh memory.
func TestDecodeForgetsWhatWasThere(t *testing.T) {
	p := parcel{lanes: []lane{{1, true}, {2, true}, {3, true}}, kind: 2, codes: []uint16{7}}
	for _, test := range parcels {
		if err := model.Decode([]byte(test.data), p.visit); err != nil {
			t.Fatal(err)
		}
		if data := model.Encode(nil, p.visit); string(data) != test.data {
			t.Errorf("%s: %q became %q", test.name, test.data, data)
		}
	}
}

// FuzzDecode: nothing panics, and whatever decodes is encoded by the same bytes, so that equal values have equal bytes.
func FuzzDecode(f *testing.F) {
	for _, test := range parcels {
		f.Add([]byte(test.data))
	}
	for rank := range uint64(20) {
		var w wide
		model.Choose(rank, w.visit)
		f.Add(model.Encode(nil, w.visit))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p parcel
		var w wide
		for _, visit := range []func(*model.Fields){p.visit, w.visit} {
			if model.Decode(data, visit) != nil {
				continue
			}
			if again := model.Encode(nil, visit); !bytes.Equal(again, data) {
				t.Errorf("%x decodes to %v, which is encoded as %x", data, model.Describe(visit), again)
			}
		}
	})
}
