package promptguard

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file finds delimiters of forged messages, URLs that carry data away, and encoded texts.

// marks are delimiters between messages in the APIs and templates of models. They do not occur in ordinary text. In
// those that begin with \n\n, the line breaks are written as JSON escapes them.
var marks = [...]string{
	"<|im_start|>", "<|im_end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|start_header_id|>", "<|eot_id|>", "[INST]", "<<SYS>>",
	"</tool_result>", "<function_results>", "<invoke name=", "<system>", "</system>", "<assistant>", "### System:", "### Instruction:", "### Response:",
	"### 系统：", "### 回答：", "[SYSTEM ", `\n\nHuman:`, `\n\nAssistant:`,
	`"role":"system"`, `"role": "system"`, "<IMPORTANT>", "<重要>",
}

const (
	minRoles   = 2  // speakers, or lines that name one, of a forged conversation
	minEncoded = 24 // characters in base64 or hexadecimal
	minPercent = 3  // percent codes
)

// addForgedMark adds a match if one of the marks is at i. As everywhere in this package, text is the text without its
// disguises, and at tells where each of its bytes comes from; see [unfold] and [origin].
func (f *matches) addForgedMark(t *tables, text string, i int, at []int32) {
	for _, m := range marks {
		if text[i] != m[0] || !strings.HasPrefix(text[i:], m) || f.has("role.mark") {
			continue
		}
		weight := suspiciousFrom
		if m[0] == '"' {
			weight = 2 // also occurs in the source code of programs that use models
		}
		f.add("role.mark", weight-discount(t, text, i, i+len(m)), origin(at, i), origin(at, i+len(m)))
	}
}

// findRolesAndAddresses finds delimiters of forged conversations and URLs made to carry data away.
func (f *matches) findRolesAndAddresses(text string, at []int32) {
	for _, m := range [...]string{"【系统", "BEGIN SYSTEM MESSAGE"} { // not in marks, which are only looked for where a byte of the kind tag stands
		if i := strings.Index(text, m); i >= 0 {
			f.add("role.mark", suspiciousFrom-discount(loadTables(), text, i, i+len(m)), origin(at, i), origin(at, i+len(m)))
		}
	}
	if strings.Contains(text, ":") || strings.Contains(text, "：") {
		f.findForgedLines(text, at)
	}
	for i := 0; ; {
		n := strings.Index(text[i:], "http")
		if n < 0 {
			break
		}
		i += n
		end := i + strings.IndexAny(text[i:]+" ", " \t\n\"`，。")
		f.judgeAddress(text, i, end, at)
		i = max(end, i+4)
	}
}

// findForgedLines finds lines that begin like messages in a conversation with a model.
func (f *matches) findForgedLines(text string, at []int32) {
	seen, first, lines := [3]bool{}, -1, 0
	for i := 0; i < len(text); {
		rest := text[i:]
		if strings.IndexByte("sSaAuU\xe7\xe5", rest[0]) < 0 { // no name below begins with this byte
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				break
			}
			i += n + 1
			continue
		}
		for who, names := range [...][2]string{{"system", "系统"}, {"assistant", "助手"}, {"user", "用户"}} {
			for _, name := range names {
				if len(rest) > len(name)+3 && strings.EqualFold(rest[:len(name)], name) && (rest[len(name)] == ':' || strings.HasPrefix(rest[len(name):], "：")) {
					lines++
					if seen[who] = true; first < 0 {
						first = i
					}
				}
			}
		}
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			break
		}
		i += n + 1
	}
	speakers := 0
	for _, s := range seen {
		if s {
			speakers++
		}
	}
	if system, assistant := seen[0], seen[1]; speakers >= minRoles && (system || assistant) {
		weight := suspiciousFrom
		if lines == minRoles && !system { // one question with its answer: people keep these
			weight--
		}
		// The first four bytes stand for all lines: whether they are quoted shows at their beginning.
		f.add("role.lines", weight-discount(loadTables(), text, first, first+4), origin(at, first), origin(at, len(text)))
	}
}

// judgeAddress adds a match if the URL from start to end has a placeholder for data, such as {history}. In a link of Markdown
// any placeholder counts; elsewhere the URL must also name something of a conversation or a secret.
func (f *matches) judgeAddress(text string, start, end int, at []int32) {
	a := text[start:end]
	isLink := start > 1 && text[start-2:start] == "](" || start > 2 && text[start-3:start] == "]: "
	placeholder := strings.ContainsAny(a, "{<") || strings.Contains(a, "SECRET")
	names := false
	if placeholder {
		for _, w := range [...]string{"chat", "conversation", "history", "message", "SECRET", "api_key", "API_KEY", "对话", "消息", "用户"} {
			names = names || strings.Contains(a, w)
		}
	}
	if (isLink && placeholder || names) && !f.has("exfil.address") {
		f.add("exfil.address", suspiciousFrom+1-discount(loadTables(), text, start, end), origin(at, start), origin(at, end))
	}
}

// scanEncoded scans the parts of text that are encoded.
func (f *matches) scanEncoded(text string, layer int) {
	f.scanPercents(text, layer)
	for i := 0; i+minEncoded <= len(text); {
		// If a byte within the next minEncoded is not part of an encoding, no long enough run begins before it.
		far := i + minEncoded - 1
		for far >= i && isCodeByte(text[far]) {
			far--
		}
		if far >= i {
			i = far + 1
			continue
		}
		end, upper, lower, digits := i, 0, 0, 0
		for end < len(text) && isCodeByte(text[end]) {
			switch b := text[end]; {
			case b >= 'A' && b <= 'Z':
				upper++
			case b >= 'a' && b <= 'z':
				lower++
			case b >= '0' && b <= '9':
				digits++
			}
			end++
		}
		if upper > 2 && lower > 2 || digits > 8 {
			f.scanRun(text[i:end], layer, i, end)
		}
		i = end
	}
}

// scanPercents scans the parts of text in percent encoding.
func (f *matches) scanPercents(text string, layer int) {
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '%')
		if n < 0 {
			return
		}
		i += n
		end := percentEnd(text, i)
		if end == 0 {
			i++
			continue
		}
		start := i
		for start > 0 && text[start-1] > ' ' && text[start-1] != '"' && text[start-1] != '=' && text[start-1] < utf8.RuneSelf {
			start--
		}
		if plain, err := url.QueryUnescape(text[start:end]); err == nil {
			f.scanDecoded(plain, layer, start, end)
		}
		i = end
	}
}

var codeBytes = func() (k [256]bool) {
	for b := range k {
		k[b] = byteKinds[b] == letter || strings.IndexByte("+/-_", byte(b)) >= 0
	}
	return k
}()

// isCodeByte reports whether b can be part of base64 or hexadecimal.
func isCodeByte(b byte) bool { return codeBytes[b] }

// percentEnd returns the end of the word at i if it contains at least minPercent percent codes, otherwise 0.
func percentEnd(text string, i int) int {
	codes, end := 0, i
	for end < len(text) && text[end] > ' ' && text[end] != '"' && text[end] < utf8.RuneSelf {
		if text[end] == '%' {
			codes++
		}
		end++
	}
	if codes < minPercent {
		return 0
	}
	return end
}

// scanRun scans a run that decodes as hexadecimal or base64.
func (f *matches) scanRun(run string, layer, start, end int) {
	if f.decoded += len(run); f.decoded > maxDecoded {
		return
	}
	var head [2 * minEncoded]byte
	n := copy(head[:], run)
	var plain [2 * minEncoded]byte
	if m, err := hex.Decode(plain[:], head[:n&^1]); err == nil && isPrintable(plain[:m]) {
		if b, err := hex.DecodeString(run[:len(run)&^1]); err == nil {
			f.scanDecoded(string(b), layer, start, end)
		}
		return
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(run, "-_") {
		encoding = base64.RawURLEncoding
	}
	if m, err := encoding.Decode(plain[:], head[:n&^3]); err != nil || !isPrintable(plain[:m]) {
		return
	}
	b, _ := encoding.DecodeString(run) // best effort: the part before an error counts
	f.scanDecoded(string(b), layer, start, end)
}

// isPrintable reports whether b looks like the beginning of a text.
func isPrintable(b []byte) bool {
	for len(b) > 3 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError || !unicode.IsPrint(r) && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
		b = b[size:]
	}
	return true
}

// scanDecoded scans a text that was encoded from start to end. Nearly suspicious is enough here, since hiding it counts too.
func (f *matches) scanDecoded(text string, layer, start, end int) {
	inner := matches{decoded: f.decoded}
	inner.scan(text, layer+1)
	f.decoded = inner.decoded
	if inner.points < suspiciousFrom-1 {
		return
	}
	f.add("encoded.order", suspiciousFrom, start, end)
	for _, r := range inner.reasons {
		f.add(r.Rule, suspiciousFrom, start, end)
	}
}
