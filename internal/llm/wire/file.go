package wire

import (
	"fmt"
	"strings"

	"collie/internal/llm"
)

// This file tells the kinds of attached files apart, and has errors that all codecs share.

// The kinds of file that models accept.
const (
	FileImage = "image"
	FileText  = "text"
	FilePDF   = "pdf"
)

// FileKind returns the kind of f, or "" if no model accepts such a file.
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

// FileAsText renders a text file for use inside a message.
func FileAsText(f *llm.File) string {
	return fmt.Sprintf("<file name=%q>\n%s\n</file>", f.Name, strings.ToValidUTF8(string(f.Data), "\ufffd"))
}

// UnsupportedFileError returns the error for a file of a type that the API, or every model, refuses.
func UnsupportedFileError(f *llm.File) error {
	return &llm.Error{
		Class: llm.ClassCaller, Message: fmt.Sprintf("the model takes no file of type %q (%s)", f.MIME, f.Name),
		Hint: "PNG, JPEG, GIF and WebP pictures, text and PDF can be attached",
	}
}

// DecodeError returns the error for a frame that cannot be parsed.
func DecodeError(err error) error {
	return &llm.Error{Class: llm.ClassUnknown, Message: "the provider sent what does not read: " + err.Error(), Err: err}
}
