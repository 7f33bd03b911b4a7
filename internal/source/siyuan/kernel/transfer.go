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
	"time"

	"collie/internal/tool"
)

// transferTimeout bounds the sending or fetching of one file, which may take longer than a
// request without one.
const transferTimeout = 10 * time.Minute

// filePart is a file that is sent as it is read.
type filePart struct {
	field, name string
	content     io.Reader
	size        int64
}

// upload posts a form whose last part is a file of a known size. The file is read once and
// never held in memory, so the request cannot be repeated.
func (c *Client) upload(ctx context.Context, endpoint string, fields [][2]string, file filePart, out any) error {
	c.dirty.Store(true)
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	for _, f := range fields {
		_ = form.WriteField(f[0], f[1]) // a buffer takes everything
	}
	if _, err := form.CreateFormFile(file.field, file.name); err != nil {
		return internal(endpoint, err)
	}
	before := head.Len()
	_ = form.Close()
	raw := head.Bytes()
	content := &counted{from: io.LimitReader(file.content, file.size)}
	body := io.MultiReader(bytes.NewReader(raw[:before]), content, bytes.NewReader(raw[before:]))

	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	resp, err := c.open(ctx, http.MethodPost, endpoint, form.FormDataContentType(), body, int64(len(raw))+file.size)
	if content.err != nil || err != nil && content.n < file.size {
		return unread(endpoint, file, content, err)
	}
	if err != nil {
		return c.failure(ctx, endpoint, writeData, err)
	}
	a, err := readAnswer(resp)
	if err != nil {
		return c.failure(ctx, endpoint, writeData, err)
	}
	data, err := envelope(endpoint, writeData, a)
	if err != nil {
		return c.failure(ctx, endpoint, writeData, err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return unexpected(endpoint, writeData, err)
	}
	return nil
}

// unread is the error for a file that was not sent to its end: the kernel, which waits for all
// of a form, has kept nothing of it.
func unread(endpoint string, file filePart, content *counted, err error) error {
	out := &tool.Error{
		Op: "upload", Kind: tool.Unavailable, Code: CodeUnreachable, Subject: endpoint, Err: err,
		Message: fmt.Sprintf("only %d of %d bytes could be sent, so nothing was stored", content.n, file.size),
		Hint:    "start SiYuan, or see collie siyuan doctor",
	}
	if content.err != nil {
		out.Kind, out.Code, out.Err, out.Hint = tool.Internal, "", content.err, ""
		out.Message = fmt.Sprintf("the file ended or failed after %d of %d bytes, so nothing was stored", content.n, file.size)
	}
	return out
}

// counted knows how much was read, and what stopped it.
type counted struct {
	from io.Reader
	n    int64
	err  error // other than the end
}

func (r *counted) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// CopyFile writes the content of a file of the workspace to w as it comes, and returns its
// size. limit bounds it in bytes; a longer file is an error of kind output_too_large. A file
// that is not there is an error of kind not_found. It is not tried again.
func (c *Client) CopyFile(ctx context.Context, path string, w io.Writer, limit int64) (int64, error) {
	const endpoint = "/api/file/getFile"
	body, err := json.Marshal(map[string]any{"path": path})
	if err != nil {
		return 0, internal(endpoint, err)
	}
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	resp, err := c.open(ctx, http.MethodPost, endpoint, "application/json", bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return 0, c.failure(ctx, endpoint, read, err)
	}
	if resp.StatusCode != http.StatusOK { // 202 is never content (R-0-1)
		a, err := readAnswer(resp)
		switch {
		case err != nil:
		case a.status == http.StatusAccepted:
			_, err = envelope(endpoint, read, a)
			err = fileError(path, err)
		default:
			err = &statusError{a.status, a.body}
		}
		return 0, c.failure(ctx, endpoint, read, err)
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	n, err := io.Copy(w, io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return n, c.failure(ctx, endpoint, read, err)
	case n > limit:
		return n, &tool.Error{
			Op: "read file", Kind: tool.TooLarge, Subject: path, Message: fmt.Sprintf("the file is larger than %d bytes", limit),
		}
	}
	return n, nil
}
