package toolcache

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// TestExpand: a compressed file is expanded to its text, and one that states a wrong length is an error.
func TestExpand(t *testing.T) {
	t.Parallel()
	var text []byte
	for i := range 20_000 {
		text = fmt.Appendf(text, `{"name":"tool%d","description":"does what a tool of number %d does"},`, i, i*i)
	}
	packed, err := Pack(text, 0)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Plain(packed)
	if err != nil || !bytes.Equal(out, text) {
		t.Fatalf("%d bytes, expected %d; error %v", len(out), len(text), err)
	}
	if !isCompressed(packed) {
		t.Fatal("it is not packed")
	}
	lie := bytes.Clone(packed)
	binary.LittleEndian.PutUint32(lie[len(lie)-4:], 1<<31)
	if _, err := Plain(lie); err == nil {
		t.Error("a file that lies about its length is expanded")
	}
}

// TestExpandTakesRoomOnce: expanding a large file of similar tools does not copy the text as it grows.
func TestExpandTakesRoomOnce(t *testing.T) {
	t.Parallel()
	var text []byte
	for i := range 5000 {
		text = fmt.Appendf(text, `{"name":"tool%d","description":"%s"},`, i, strings.Repeat("does what a tool does ", 10))
	}
	packed, err := Pack(text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) < likelyRatio*len(packed) || !isCompressed(packed) {
		t.Fatalf("%d bytes are packed into %d, expected fewer", len(text), len(packed))
	}
	out, err := Plain(packed)
	if err != nil || !bytes.Equal(out, text) {
		t.Fatalf("%d bytes, expected %d; error %v", len(out), len(text), err)
	}
	if cap(out) > len(text)+len(text)/4 {
		t.Errorf("room for %d bytes was taken for %d", cap(out), len(text))
	}
}
