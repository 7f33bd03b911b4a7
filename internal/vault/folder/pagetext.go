package folder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"

	"collie/internal/vault/tree"
)

// surveyPage collects from a page what other pages need.
func (im *importer) surveyPage(pg *page) {
	if pg.load != nil {
		im.surveyArchived(pg)
		return
	}
	list, ok := im.open(pg, true)
	if !ok {
		pg.broken, pg.title = true, tidied(pg.name)
		return
	}
	pg.title = im.titleOf(pg)
	pg.survey(list, im.newID)
}

// open returns the lines of a page without its front matter; false if the file cannot be read. Problems are reported
// only if first is set, since a page is opened twice.
func (im *importer) open(pg *page, first bool) ([]line, bool) {
	if pg.file == "" {
		return nil, true
	}
	problem := func(line int, code, what, why string) {
		if first {
			im.report.problem(pg.file, line, code, what, why)
		}
	}
	data, err := im.s.read(pg.file, maxPage)
	switch {
	case errors.Is(err, errTooLarge):
		problem(0, codeTooLarge, path.Base(pg.file), fmt.Sprintf("the file has more than %d MiB: left out", maxPage>>20))
		return nil, false
	case err != nil:
		problem(0, codeUnreadable, path.Base(pg.file), plainError(err)+": left out")
		return nil, false
	}
	text, guessed, code := decode(data)
	switch {
	case code == codeBinary:
		problem(0, code, path.Base(pg.file), "the file holds no text: left out")
		return nil, false
	case code == codeEncoding:
		problem(0, code, path.Base(pg.file), "the text is neither UTF-8 nor UTF-16 nor GB18030: left out; convert it to UTF-8")
		return nil, false
	case guessed != "":
		problem(0, codeEncodingGuessed, path.Base(pg.file), "the text is not UTF-8: read as "+guessed)
	}
	return im.split(pg, text, first, problem), true
}

// split separates the front matter from the text of a page, and returns the lines of the text. With first it stores the
// front matter in the page.
func (im *importer) split(pg *page, text string, first bool, problem func(int, string, string, string)) []line {
	yamlText, body, n, found := cutFront(text)
	aliases := pg.front.aliases
	f := frontMatter{attrs: map[string]string{}, properties: map[string]string{}}
	if found {
		var err error
		f, err = parseFront(yamlText, func(line int, key, why string) { problem(line+1, codeFrontMatterKey, key, why) })
		if err != nil {
			problem(1, codeFrontMatter, "front matter", err.Error()+": kept as code")
			fence := "```"
			for strings.Contains(yamlText, fence) {
				fence += "`"
			}
			f = frontMatter{attrs: map[string]string{}, properties: map[string]string{}}
			body, n = fence+"yaml\n"+strings.TrimSuffix(yamlText, "\n")+"\n"+fence+"\n"+body, n-strings.Count(yamlText, "\n")-2
		}
	}
	if pg.dialect == ownDialect && f.id == "" {
		pg.dialect = plain // a person put it there
	}
	if head := im.program.cutHead; head != nil && pg.dialect == im.program.dialect {
		var lines int
		body, lines = head(&f, body)
		n += lines
	}
	f.storeProperties()
	if first {
		f.aliases = append(f.aliases, aliases...)
		pg.front = f
	}
	if pg.dialect == ownDialect {
		return unchangedLines(body, n+1)
	}
	return normalizeLines(body, n+1)
}

// titleOf returns the title of a page: from its front matter, or its name.
func (im *importer) titleOf(pg *page) string {
	title := pg.front.title
	if title == "" {
		title = pg.name
	}
	if pg.dialect == ownDialect {
		return title
	}
	return im.tidyTitle(pg.path(), title)
}

// tidyTitle returns a title that the vault can hold, and reports if it differs from the given one.
func (im *importer) tidyTitle(at, title string) string {
	clean := tidied(title)
	if clean != title {
		im.report.problem(at, 0, codeTitleChanged, title, "a title has one line of at most 512 characters and no slash")
	}
	return clean
}

// tidied returns a title as an import takes it.
func tidied(title string) string {
	clean := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if tree.IsInvisible(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(title, ""))), " ")
	clean = strings.ReplaceAll(clean, "/", "-")
	if runes := []rune(clean); len(runes) > maxTitle {
		clean = string(runes[:maxTitle])
	}
	if clean == "" {
		clean = "Untitled"
	}
	return clean
}

const maxTitle = 512

// decode converts the bytes of a file to text with \n as line ends. guessed is the name of the encoding if it is not
// UTF-8. If there is no text, code is codeBinary or codeEncoding; else it is "".
func decode(data []byte) (text, guessed, code string) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return lines(utf16Text(data[2:], binary.LittleEndian)), "UTF-16", ""
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return lines(utf16Text(data[2:], binary.BigEndian)), "UTF-16", ""
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", "", codeBinary
	}
	if utf8.Valid(data) {
		return lines(string(data)), "", ""
	}
	decoded, err := simplifiedchinese.GB18030.NewDecoder().Bytes(data)
	if err != nil || bytes.ContainsRune(decoded, utf8.RuneError) || hasControlChars(decoded) {
		return "", "", codeEncoding
	}
	return lines(string(decoded)), "GB18030", ""
}

func utf16Text(data []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return strings.ReplaceAll(string(utf16.Decode(units)), "\x00", "")
}

// hasControlChars reports whether text has control characters or private-use characters, which no proper text has.
func hasControlChars(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' || r >= 0xe000 && r <= 0xf8ff
	})
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func lines(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	return lineEnds.Replace(text)
}
