package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"collie/internal/tool"
)

// This file has the endpoints for files and folders of the workspace.

// ReadFile returns the content of a workspace file, such as "/data/storage/…". If the file is missing, the error has
// kind not_found. With status 202 the body is an error, never content.
func (c *Client) ReadFile(ctx context.Context, path string) ([]byte, error) {
	const endpoint = "/api/file/getFile"
	body, err := json.Marshal(map[string]any{"path": path})
	if err != nil {
		return nil, internalError(endpoint, err)
	}
	return c.doWithRetries(ctx, endpoint, read, func(ctx context.Context) (json.RawMessage, error) {
		resp, err := c.send(ctx, http.MethodPost, endpoint, "application/json", body)
		switch {
		case err != nil:
			return nil, err
		case resp.status == http.StatusOK:
			return resp.body, nil
		case resp.status != http.StatusAccepted:
			return nil, wrongStatusError(endpoint, resp)
		}
		_, err = envelopeData(endpoint, read, resp)
		return nil, fileError(path, err)
	})
}

// fileError returns the error for the codes of the file API.
func fileError(path string, err error) error {
	e, ok := errors.AsType[*codeError](err)
	if !ok {
		return err
	}
	out := &tool.Error{Op: "read file", Kind: API, Subject: path, Message: e.Error(), Facts: map[string]any{"kernelCode": e.code}}
	switch e.code {
	case 404:
		out.Kind, out.Code = tool.NotFound, "file_not_found"
	case 403:
		out.Code = "file_forbidden"
	case -3:
		out.Code, out.Hint = CodeNotebookClosed, "the notebook is encrypted and locked; unlock it in SiYuan"
	}
	return out
}

// WriteFile writes a file of the workspace, over an old one, and makes missing folders above it.
func (c *Client) WriteFile(ctx context.Context, path string, content []byte) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("path", path) // a buffer never fails
	_ = form.WriteField("isDir", "false")
	_ = form.WriteField("modTime", strconv.FormatInt(time.Now().UnixMilli(), 10))
	part, err := form.CreateFormFile("file", "file")
	if err != nil {
		return internalError("/api/file/putFile", err)
	}
	_, _ = part.Write(content)
	_ = form.Close()
	return c.post(ctx, "/api/file/putFile", write, form.FormDataContentType(), body.Bytes(), nil)
}

// DirEntry is one entry of a folder of the workspace.
type DirEntry struct {
	Name      string `json:"name"`
	IsDir     bool   `json:"isDir"`
	IsSymlink bool   `json:"isSymlink"`
	Updated   int64  `json:"updated"` // seconds since 1970
}

// ReadDir lists a folder of the workspace. If it is missing, the error has kind not_found.
func (c *Client) ReadDir(ctx context.Context, path string) ([]DirEntry, error) {
	var out []DirEntry
	err := c.call(ctx, "/api/file/readDir", read, map[string]any{"path": path}, &out)
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Facts["kernelCode"] == 404 {
		e.Kind, e.Code = tool.NotFound, "file_not_found"
	}
	return out, err
}

// RemoveFile removes a file or a folder of the workspace, with all that is in it. If it is missing, the error has kind not_found.
func (c *Client) RemoveFile(ctx context.Context, path string) error {
	err := c.call(ctx, "/api/file/removeFile", write, map[string]any{"path": path}, nil)
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Facts["kernelCode"] == 404 {
		e.Kind, e.Code = tool.NotFound, "file_not_found"
	}
	return err
}
