package folder

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
)

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
