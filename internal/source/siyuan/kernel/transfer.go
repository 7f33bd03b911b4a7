package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"sync"
	"time"

	"collie/internal/tool"
)

// This file uploads and downloads files without holding them in memory.

// transferTimeout bounds the upload or download of one file.
const transferTimeout = 10 * time.Minute

// filePart is a file that is sent as it is read.
type filePart struct {
	field, name string
	content     io.Reader
	size        int64
}

// upload posts a form whose last part is a file of known size. The file is read once and not held in memory, so the
// request cannot be repeated.
func (c *Client) upload(ctx context.Context, endpoint string, fields [][2]string, file filePart, out any) error {
	defer c.dirty.Store(true)
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	for _, f := range fields {
		_ = form.WriteField(f[0], f[1]) // a buffer never fails
	}
	if _, err := form.CreateFormFile(file.field, file.name); err != nil {
		return internalError(endpoint, err)
	}
	before := head.Len()
	_ = form.Close()
	raw := head.Bytes()
	content := &countingReader{from: io.LimitReader(file.content, file.size), size: file.size}
	body := io.MultiReader(bytes.NewReader(raw[:before]), content, bytes.NewReader(raw[before:]))

	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	resp, err := c.startRequest(ctx, http.MethodPost, endpoint, form.FormDataContentType(), body, int64(len(raw))+file.size)
	if err != nil {
		n, cause := content.progress()
		switch {
		case cause != nil:
			return uploadInterruptedError(endpoint, n, file.size, cause)
		case n < file.size: // the kernel waits for the whole form, so it has stored nothing
			return c.callerError(ctx, endpoint, read, err)
		}
		return c.callerError(ctx, endpoint, writeData, err)
	}
	a, err := readAnswer(resp)
	if err != nil {
		return c.callerError(ctx, endpoint, writeData, err)
	}
	data, err := envelopeData(endpoint, writeData, a)
	if err != nil {
		return c.callerError(ctx, endpoint, writeData, err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return unexpectedDataError(endpoint, writeData, err)
	}
	return nil
}

// uploadInterruptedError returns the error for a file that ended early or could not be read.
func uploadInterruptedError(endpoint string, n, size int64, cause error) error {
	return &tool.Error{
		Op: "upload", Kind: tool.StateChanged, Subject: endpoint, Err: cause,
		Message: fmt.Sprintf("the file could be read for %d of its %d bytes, so nothing was stored", n, size),
		Hint:    "try again when nothing writes to the file",
	}
}

// countingReader counts how much of a file was read, and records the error that ended the reading. The transport may
// still be reading after a request has failed.
type countingReader struct {
	from io.Reader
	size int64

	mu  sync.Mutex
	n   int64
	err error
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n += int64(n)
	switch {
	case err == nil:
	case !errors.Is(err, io.EOF):
		r.err = err
	case r.n < r.size:
		r.err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (r *countingReader) progress() (n int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n, r.err
}

// CopyFile copies the content of a workspace file to w as it arrives, and returns its size. A file of more than limit
// bytes is an error of kind output_too_large, a missing file one of kind not_found. The request is not repeated.
func (c *Client) CopyFile(ctx context.Context, path string, w io.Writer, limit int64) (int64, error) {
	const endpoint = "/api/file/getFile"
	body, err := json.Marshal(map[string]any{"path": path})
	if err != nil {
		return 0, internalError(endpoint, err)
	}
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	resp, err := c.startRequest(ctx, http.MethodPost, endpoint, "application/json", bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return 0, c.callerError(ctx, endpoint, read, err)
	}
	if resp.StatusCode != http.StatusOK { // 202 never is content
		a, err := readAnswer(resp)
		switch {
		case err != nil:
		case a.status == http.StatusAccepted:
			_, err = envelopeData(endpoint, read, a)
			err = fileError(path, err)
		default:
			err = &statusError{a.status, a.body}
		}
		return 0, c.callerError(ctx, endpoint, read, err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(w, io.LimitReader(resp.Body, limit+1)) // one byte more shows that it is too long
	switch {
	case err != nil:
		return n, c.callerError(ctx, endpoint, read, err)
	case n > limit:
		return n, &tool.Error{
			Op: "read file", Kind: tool.TooLarge, Subject: path, Message: fmt.Sprintf("the file is larger than %d bytes", limit),
		}
	}
	return n, nil
}
