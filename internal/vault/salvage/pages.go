package salvage

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"collie/internal/vault/workspace"
)

// This file reads the pages of an SQLite file and its log without SQLite.

const (
	pageSize = 4096    // of every vault, in bytes
	maxFile  = 8 << 30 // bounds the size of a file, in bytes

	// The kinds of pages of rows, by their first byte. A leaf has rows; an inner page refers to the pages below it.
	indexInner, tableInner, indexLeaf, tableLeaf = 0x02, 0x05, 0x0a, 0x0d
)

// pages are the pages of a file, with the changes in its log.
type pages struct {
	file  *os.File
	count int
	log   map[int][]byte // newer pages, by number from 1
}

// openPages opens a file of pages with its write-ahead log, if there is one.
func openPages(path string) (*pages, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = errors.New("it is not a file of a vault")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p := &pages{file: f, count: int((info.Size() + pageSize - 1) / pageSize), log: map[int][]byte{}}
	wal, err := os.ReadFile(workspace.RealPath(path) + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, f.Close())
	}
	p.replay(wal)
	return p, nil
}

// replay adds the pages in a write-ahead log, up to the last committed transaction. The log has a header, and then frames, each
// with the number of a page, the size of the database if it ends a transaction (else 0), and the salt of the log; see "WAL
// File Format" of SQLite.
func (p *pages) replay(wal []byte) {
	const header, frame = 32, 24 + pageSize
	if len(wal) < header || binary.BigEndian.Uint32(wal[8:]) != pageSize {
		return
	}
	salt := string(wal[16:24])
	open := map[int][]byte{} // the pages of a transaction whose end was not read yet
	for at := header; at+frame <= len(wal); at += frame {
		f := wal[at : at+frame]
		n := int(binary.BigEndian.Uint32(f))
		if string(f[8:16]) != salt || n < 1 || n > maxFile/pageSize {
			return // left from an earlier log
		}
		open[n] = f[24:]
		if isCommit := binary.BigEndian.Uint32(f[4:]) != 0; !isCommit {
			continue
		}
		for n, data := range open {
			p.log[n] = data
			p.count = max(p.count, n)
		}
		clear(open)
	}
}

// page returns the page with a number, from 1; nil if it cannot be read. If the file ends inside of it, the rest is
// zero.
func (p *pages) page(n int) []byte {
	if data := p.log[n]; data != nil {
		return data
	}
	if n < 1 || n > p.count {
		return nil
	}
	data := make([]byte, pageSize)
	if got, err := p.file.ReadAt(data, int64(n-1)*pageSize); got == 0 && err != nil {
		return nil
	}
	return data
}

// cells returns the offsets of the rows in a page, in the order of the page. Offsets outside of the page are left out.
func cells(data []byte, at int) (places []int) {
	n := int(binary.BigEndian.Uint16(data[at+3:]))
	first := at + 8 // the header of a leaf has 8 bytes, that of an inner page 4 more
	if data[at] == indexInner || data[at] == tableInner {
		first += 4
	}
	for i := range n {
		if first+2*i+2 > len(data) {
			break
		}
		if place := int(binary.BigEndian.Uint16(data[first+2*i:])); place >= first && place < len(data)-4 {
			places = append(places, place)
		}
	}
	return places
}

// varint decodes a variable-length integer of SQLite and returns its length in bytes, 0 if there is none.
func varint(data []byte) (v uint64, n int) {
	for i := range min(len(data), 9) {
		if i == 8 {
			return v<<8 | uint64(data[i]), 9
		}
		v = v<<7 | uint64(data[i]&0x7f)
		if data[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// freePages returns the numbers of the pages that SQLite keeps for reuse, whose content was deleted.
func (p *pages) freePages() map[int]bool {
	free := map[int]bool{}
	first := p.page(1)
	if first == nil {
		return free
	}
	for trunk := int(binary.BigEndian.Uint32(first[32:])); trunk > 0 && trunk <= p.count && !free[trunk]; {
		free[trunk] = true
		data := p.page(trunk)
		if data == nil {
			break
		}
		for i := range min(int(binary.BigEndian.Uint32(data[4:])), pageSize/4-2) {
			if n := int(binary.BigEndian.Uint32(data[8+4*i:])); n > 0 && n <= p.count {
				free[n] = true
			}
		}
		trunk = int(binary.BigEndian.Uint32(data))
	}
	return free
}
