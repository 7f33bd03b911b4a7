package wire

import (
	"fmt"
	"strings"

	"collie/internal/llm"
)

// The kinds of file that models can be shown.
const (
	FileImage = "image"
	FileText  = "text"
	FilePDF   = "pdf"
)

// FileKind returns which kind of file f is; empty for one that no model takes.
func FileKind(f *llm.File) string {
	kind, _, _ := strings.Cut(f.MIME, ";")
	switch {
	case kind == "image/png", kind == "image/jpeg", kind == "image/gif", kind == "image/webp":
		return FileImage
	case kind == "application/pdf":
		return FilePDF
	case strings.HasPrefix(kind, "text/"), kind == "application/json", kind == "application/xml", kind == "application/yaml",
		strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml") && kind != "image/svg+xml":
		return FileText
	}
	return ""
}

// FileAsText writes a file of text into a message.
func FileAsText(f *llm.File) string {
	return fmt.Sprintf("<file name=%q>\n%s\n</file>", f.Name, strings.ToValidUTF8(string(f.Data), "\ufffd"))
}

// RefuseFile says that no model is shown f.
func RefuseFile(f *llm.File) error {
	return &llm.Error{
		Class: llm.ClassCaller, Message: fmt.Sprintf("the model takes no file of type %q (%s)", f.MIME, f.Name),
		Hint: "PNG, JPEG, GIF and WebP pictures, text and PDF can be attached",
	}
}

// Garbled is the error of a frame that does not read.
func Garbled(err error) error {
	return &llm.Error{Class: llm.ClassUnknown, Message: "the provider sent what does not read: " + err.Error(), Err: err}
}
