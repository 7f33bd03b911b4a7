package natsstore_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"collie/internal/source/upstream/toolcache"
)

// writerAddress names the NATS server to the child that tests start.
const writerAddress = "COLLIE_TEST_NATS_WRITER"

// servers is the number of servers that each gateway here has.
const servers = 10

// wants returns these servers as lookups ask for them.
func wants() []toolcache.Want {
	list := make([]toolcache.Want, servers)
	for i := range list {
		list[i] = toolcache.Want{Name: fmt.Sprintf("s%d", i), Hash: fmt.Sprintf("%064x", i), MaxAge: time.Hour, MaxStale: time.Hour}
	}
	return list
}

// gateway returns a cache in memory that shares through the NATS server at where.
func gateway(t *testing.T, where string) *toolcache.Cache {
	t.Helper()
	c := toolcache.Open(t.Context(), toolcache.Options{Key: bytes.Repeat([]byte{7}, 32), Shared: open(t, where)})
	t.Cleanup(func() { _ = c.Close() })
	c.Configured(wants())
	t.Cleanup(c.Watch(func(string) {}))
	return c
}

// tell stores a list of n tools for each server, as if the servers had told it.
func tell(c *toolcache.Cache, n int) {
	for _, w := range wants() {
		e := &toolcache.Entry{ConfigHash: w.Hash}
		for i := range n {
			e.Tools = append(e.Tools, json.RawMessage(fmt.Sprintf(`{"name":"t%d","description":%q,"inputSchema":{}}`, i, strings.Repeat("列车", 50))))
		}
		c.Store(w.Name, e)
	}
}

// bucketState returns how many tools a gateway knows of each server; -1 if the numbers differ, as they may while
// somebody writes.
func bucketState(c *toolcache.Cache) (n int) {
	for i, w := range wants() {
		e, _, _ := c.Lookup(w)
		switch {
		case i == 0 && e != nil:
			n = len(e.Tools)
		case e == nil && n > 0, e != nil && len(e.Tools) != n:
			return -1
		}
	}
	return n
}

// TestWriterChild stores longer and longer lists until it is killed.
func TestWriterChild(t *testing.T) {
	t.Parallel()
	where := os.Getenv(writerAddress)
	if where == "" {
		return // it is the child of the test below
	}
	place := open(t, where)
	before, told := load(t, place), false
	c := gateway(t, where)
	for n := bucketState(c) + 1; ; n++ {
		tell(c, max(n, 1))
		if err := c.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if told {
			continue
		}
		// A gateway goes on without a place that does not answer at once, and tries it again later.
		eventually(t, "all of it is there", func() bool {
			if err := c.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			now, fresh := load(t, place), 0
			for name, raw := range now.Entries {
				if !bytes.Equal(raw, before.Entries[name]) {
					fresh++
				}
			}
			return fresh == servers
		})
		told = true
		fmt.Println("told")
	}
}

// A process that shares is killed repeatedly. Another process finds every entry valid, takes entries over while the
// first writes, and has its own lists taken over.
func TestProcessesConverge(t *testing.T) {
	t.Parallel()
	srv := start(t, server.Options{})
	where := srv.ClientURL()
	c := gateway(t, where)
	for round := range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWriterChild$", "-test.count=1")
		cmd.Env = append(os.Environ(), writerAddress+"="+where)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() && lines.Text() != "told" {
		}
		kill := time.AfterFunc(time.Duration(rand.Intn(20_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		for lines.Scan() {
		}
		kill.Stop()
		_ = cmd.Wait() // it was killed
		kept := load(t, open(t, where))
		if len(kept.Entries) != servers {
			t.Fatalf("round %d: %d entries are kept, want %d", round, len(kept.Entries), servers)
		}
		eventually(t, "what the other has told is taken over", func() bool { return bucketState(c) != 0 })
		if st := c.Stats(); st.Shared.Dropped != 0 {
			t.Fatalf("round %d: %d entries are not whole", round, st.Shared.Dropped)
		}
	}
	other := gateway(t, where)
	const many = 200 // more than a child gets to
	tell(c, many)
	eventually(t, "both know the same", func() bool {
		if err := c.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		return bucketState(c) == many && bucketState(other) == many
	})
}
