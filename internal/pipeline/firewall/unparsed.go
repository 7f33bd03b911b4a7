package firewall

import (
	"strings"
	"sync"
)

// This file judges what can be said of a command without parsing it, which is enough for most and much faster.

// script identifies a script that was judged: the same text means something else after cd, and in another folder.
type script struct {
	text, cwds string
	folders    int
}

// judgedBefore reports whether the same script was judged before at this depth or a smaller one, where scripts within it were
// followed at least as far. It notes the script as judged.
func (j *judgement) judgedBefore(text string) bool {
	key := script{text, strings.Join(j.cwds, "\x00"), len(j.folders)}
	if at, ok := j.scripts[key]; ok && at <= j.depth {
		return true
	}
	if j.scripts == nil {
		j.scripts = map[script]int{}
	}
	j.scripts[key] = j.depth
	return false
}

// Kinds of bytes in a command.
const (
	wordByte = iota
	blankByte
	endByte // separates commands
	quoteByte
	redirectByte
)

var shellBytes = [256]uint8{
	' ': blankByte, '\t': blankByte, '\r': blankByte,
	'\n': endByte, ';': endByte, '|': endByte, '&': endByte, '(': endByte, ')': endByte, '`': endByte,
	'\'': quoteByte, '"': quoteByte, '\\': quoteByte,
	'<': redirectByte, '>': redirectByte,
}

// countTokens returns about how many words and operators a command has outside of quotes and here-documents. It stops counting
// soon after most. The time to parse and judge a command grows with this number.
func countTokens(s string, most int) int {
	n, inWord := 0, false
	for i := 0; i < len(s) && n <= most; i++ {
		switch c := s[i]; shellBytes[c] {
		case blankByte:
			inWord = false
			continue
		case endByte:
			n++
			inWord = false
			continue
		case redirectByte:
			n++
			inWord = false
			i = afterHeredoc(s, i)
			continue
		case quoteByte:
			i = afterQuoted(s, i)
		default:
			if c == '#' && !inWord {
				if end := strings.IndexByte(s[i:], '\n'); end >= 0 {
					i += end
					continue
				}
				return n
			}
		}
		if !inWord {
			n++
			inWord = true
		}
	}
	return n
}

// afterQuoted returns the index of the last byte of the quoted text at i, or i if something in it is substituted or it does not end.
func afterQuoted(s string, i int) int {
	switch s[i] {
	case '\\':
		return i + 1
	case '\'':
		if end := strings.IndexByte(s[i+1:], '\''); end >= 0 {
			return i + 1 + end
		}
	case '"':
		for k := i + 1; k < len(s); k++ {
			switch s[k] {
			case '"':
				return k
			case '\\':
				k++
			case '`', '$':
				return i
			}
		}
	}
	return i
}

// afterHeredoc returns the index of the last byte of a here-document whose operator is at i, or i if there is none.
func afterHeredoc(s string, i int) int {
	rest := s[i:]
	if !strings.HasPrefix(rest, "<<") || strings.HasPrefix(rest, "<<<") {
		return i
	}
	line, _, ok := strings.Cut(rest, "\n")
	if !ok {
		return i
	}
	name, _, _ := strings.Cut(strings.TrimLeft(line[2:], "- \t"), " ")
	name, _, _ = strings.Cut(name, ";")
	name = strings.Trim(name, `"'\`)
	if name == "" {
		return i
	}
	end := strings.Index(rest[len(line):], "\n"+name+"\n")
	if end < 0 {
		if !strings.HasSuffix(rest, "\n"+name) {
			return i
		}
		return len(s) - 1
	}
	return i + len(line) + end + len(name)
}

// scan is the memory that scanUnparsed works in. A command of 8 KiB has thousands of words.
type scan struct {
	words   []word              // of one command
	longest int                 // how many words the longest command had
	judged  map[string]struct{} // the commands
}

// maxKept bounds the words and the commands that a scan has room for if its memory is to be used again. Clearing more would
// slow down every later call.
const maxKept = 8 << 10

var scans = sync.Pool{New: func() any { return &scan{judged: map[string]struct{}{}} }}

// release lets others use the memory, which does not hold on to the arguments that were scanned.
func (s *scan) release() {
	if cap(s.words) > maxKept || len(s.judged) > maxKept {
		return
	}
	clear(s.words[:s.longest])
	clear(s.judged)
	s.longest = 0
	scans.Put(s)
}

// scanUnparsed looks for denied commands in text that is not parsed, word by word. Each distinct command is judged once.
func (j *judgement) scanUnparsed(s string) {
	scan := scans.Get().(*scan)
	defer scan.release()
	begin, start := 0, -1
	special, suspect := false, false // in the current word, and in the current command
	for i := 0; i <= len(s); i++ {
		kind := uint8(endByte)
		if i < len(s) {
			kind = shellBytes[s[i]]
		}
		if kind != blankByte && kind != endByte {
			if start < 0 {
				start, special = i, false
			}
			// Whether a relative path is plain is known from its text. An absolute one may lead elsewhere, and an
			// option may contain one.
			special = special || nameBytes[s[i]] == 0 && (s[i] != '/' || i == start || s[start] == '-')
			continue
		}
		if start >= 0 && !suspect {
			suspect = special || roleOf(lowerBase(s[start:i])) != 0 || !j.isPlainPath(s[start:i])
		}
		start = -1
		if kind != endByte {
			continue
		}
		if command := s[begin:i]; suspect {
			if _, known := scan.judged[command]; !known {
				scan.judged[command] = struct{}{}
				scan.words = scan.words[:0]
				for w := range strings.FieldsSeq(command) {
					scan.words = append(scan.words, word{text: strings.Trim(w, `"'{}`), fixed: true})
				}
				scan.longest = max(scan.longest, len(scan.words))
				j.denyHarm(scan.words)
			}
		}
		begin, suspect = i+1, false
	}
}
