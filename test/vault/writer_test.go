package vault

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"collie/internal/vault"
)

// writers is how many goroutines of a victim write at once.
const writers = 4

// printLine prints a line, whole even if several goroutines print.
type printLine func(line string)

// startWriting starts goroutines that make changes of all kinds and print a line for each acknowledged one. The
// channel receives the errors with which they end.
func startWriting(v *vault.Vault, print printLine) <-chan error {
	errs := make(chan error, writers)
	for n := range writers {
		go func() {
			errs <- writeUntilError(context.Background(), newClient(v), fmt.Sprintf("p%dw%d", os.Getpid(), n), print)
		}()
	}
	return errs
}

// writeUntilError makes one change after the other until one fails. For each it prints what must be found afterwards, with a
// word that is unique.
func writeUntilError(ctx context.Context, c client, name string, say printLine) error {
	list, err := c.ask(ctx, "/api/notebook/lsNotebooks", map[string]any{})
	if err != nil {
		return err
	}
	box := list.Get("notebooks.0.id").String()
	doc, err := c.ask(ctx, "/api/filetree/createDocWithMd", map[string]any{
		"notebook": box, "path": "/" + name, "markdown": "# " + name + "\n\n- 一\n- two",
	})
	if err != nil {
		return err
	}
	say("document " + doc.String())
	var blocks []string
	for i := 0; ; i++ {
		word := fmt.Sprintf("%sx%d", name, i)
		switch kind := rand.IntN(10); {
		case kind < 6 || len(blocks) == 0:
			got, err := c.ask(ctx, "/api/block/appendBlock", map[string]any{
				"dataType": "markdown", "data": "文字 " + word + "\n\n> and more", "parentID": doc.String(),
			})
			if err != nil {
				return err
			}
			id := got.Get("0.doOperations.0.id").String()
			blocks = append(blocks, id)
			say("block " + id + " " + word)
		case kind < 8:
			id := blocks[rand.IntN(len(blocks))]
			if _, err := c.ask(ctx, "/api/attr/setBlockAttrs", map[string]any{"id": id, "attrs": map[string]any{"custom-word": word}}); err != nil {
				return err
			}
			say("attribute " + id + " " + word)
		case kind < 9:
			id := blocks[len(blocks)-1]
			say("deleting " + id) // from here on it may be gone
			if _, err := c.ask(ctx, "/api/block/deleteBlock", map[string]any{"id": id}); err != nil {
				return err
			}
			blocks = blocks[:len(blocks)-1]
			say("deleted " + id)
		default:
			if _, err := c.ask(ctx, "/api/filetree/renameDocByID", map[string]any{"id": doc.String(), "title": word}); err != nil {
				return err
			}
			say("title " + doc.String() + " " + word)
		}
	}
}

// isAtLeast reports whether a word is the acknowledged one or a later one of the same goroutine. Words are the name of the
// goroutine, an x and a number that grows.
func isAtLeast(word, acknowledged string) bool {
	name, number, _ := strings.Cut(word, "x")
	wantName, wantNumber, _ := strings.Cut(acknowledged, "x")
	n, err := strconv.Atoi(number)
	want, wantErr := strconv.Atoi(wantNumber)
	return name == wantName && err == nil && wantErr == nil && n >= want
}

// promises are the writes that were acknowledged before processes were killed.
type promises struct {
	text      map[string]string // word by block
	attr      map[string]string // last value by block
	title     map[string]string // last title by document; "" if it was not renamed
	maybeGone map[string]bool   // blocks that were being deleted
	gone      map[string]bool   // deleted blocks
	lineCount int               // all of them
}

func newPromises() *promises {
	return &promises{map[string]string{}, map[string]string{}, map[string]string{}, map[string]bool{}, map[string]bool{}, 0}
}

// addLines adds what a process has printed. An incomplete last line is not a promise.
func (p *promises) addLines(out string) error {
	complete := out[:strings.LastIndex(out, "\n")+1]
	lines := bufio.NewScanner(strings.NewReader(complete))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 2 {
			return errors.New("a process printed " + lines.Text())
		}
		p.lineCount++
		switch id := f[1]; f[0] {
		case "document":
			p.title[id] = ""
		case "block":
			p.text[id] = f[2]
		case "attribute":
			p.attr[id] = f[2]
		case "title":
			p.title[id] = f[2]
		case "deleting":
			p.maybeGone[id] = true
		case "deleted":
			p.gone[id] = true
		default:
			return errors.New("a process printed " + lines.Text())
		}
	}
	return lines.Err()
}
