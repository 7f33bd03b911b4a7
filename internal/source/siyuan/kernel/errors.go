package kernel

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/lazyregexp"
	"collie/internal/tool"
)

// This file turns the answers of a kernel that mean failure into errors.

// Error kinds that are specific to kernels.
const (
	API            = tool.Upstream + "/api_error"             // the kernel reports an error
	NotInKernel    = tool.Upstream + "/unsupported_by_kernel" // this kernel lacks the endpoint
	OutcomeUnknown = tool.Upstream + "/outcome_unknown"       // a write got no answer
	Mismatch       = tool.Upstream + "/readback_mismatch"     // a write cannot be read back
	InvalidPath    = tool.Invalid + "/invalid_path"           // a path that cannot be resolved safely
)

// Codes of errors of kind api_error, and others that callers may need to distinguish.
const (
	CodeBlockNotFound    = "block_not_found"
	CodeNotebookNotFound = "notebook_not_found"
	CodeNotebookClosed   = "notebook_closed"
	CodeDocumentNotFound = "document_not_found"
	CodeDatabaseNotFound = "av_not_found"
	CodeUnreachable      = "kernel_unreachable"
	CodeNoEffect         = "no_effect"
	CodeReadOnly         = "kernel_read_only"
	CodeNotSiYuan        = "not_a_siyuan_kernel"
	codeNotSecure        = "kernel_not_secure"
	codeNoRepoKey        = "repo_key_missing"
)

var errTooLong = errors.New("the answer is larger than 256 MiB")

// statusError is an HTTP status that means an error.
type statusError struct {
	status int
	body   []byte
}

func (e *statusError) Error() string {
	return fmt.Sprintf("HTTP %d: %.200s", e.status, bytes.TrimSpace(e.body))
}

// codeError is an answer whose code is not 0.
type codeError struct {
	code int
	msg  string
}

func (e *codeError) Error() string { return fmt.Sprintf("SiYuan API error: %d - %s", e.code, e.msg) }

// envelopeData returns the data of an answer, or the error that its status, code or shape means.
func envelopeData(endpoint string, k requestKind, a answer) (json.RawMessage, error) {
	if a.status == http.StatusOK && len(bytes.TrimSpace(a.body)) == 0 {
		return nil, endpointMissingError(endpoint)
	}
	if a.status == http.StatusNotFound && !json.Valid(a.body) {
		if text := string(bytes.TrimSpace(a.body)); text != "" && text != "404 page not found" {
			return nil, notAKernelError(endpoint, a)
		}
		return nil, endpointMissingError(endpoint)
	}
	if a.status != http.StatusOK && a.status != http.StatusAccepted {
		return nil, wrongStatusError(endpoint, a)
	}
	code, msg, data, ok := parseEnvelope(a.body)
	if !ok {
		return nil, notAKernelError(endpoint, a)
	}
	if code != 0 || a.status == http.StatusAccepted {
		return nil, &codeError{code, html.UnescapeString(msg)} // the message is HTML
	}
	if k.data && (len(data) == 0 || string(data) == "null") {
		return nil, &tool.Error{
			Op: "ask SiYuan", Kind: API, Code: CodeNoEffect, Subject: endpoint, Facts: map[string]any{"reason": CodeNoEffect},
			Message: "the kernel accepted the request and did nothing: something that it names does not exist",
		}
	}
	return data, nil
}

// parseEnvelope reads the members of an answer in one pass, since answers can be long. Some handlers write their refusal
// twice, so only the first value counts. Invalid JSON in the data is left for the data's reader to notice.
func parseEnvelope(body []byte) (code int, msg string, data json.RawMessage, ok bool) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || body[0] != '{' || bytes.IndexByte(body, '}') < 0 {
		return 0, "", nil, false
	}
	got := gjson.GetBytes(body, "code")
	return int(got.Num), gjson.GetBytes(body, "msg").Str, valueAt(body, "data"), got.Type == gjson.Number
}

// valueAt returns the value at a path in an object; nil if there is none.
func valueAt(object []byte, name string) json.RawMessage {
	v := gjson.GetBytes(object, name)
	if !v.Exists() {
		return nil
	}
	if v.Index == 0 { // combined from several values
		return json.RawMessage(v.Raw)
	}
	return object[v.Index : v.Index+len(v.Raw)]
}

// wrongStatusError returns the error for a status that kernels do not answer with.
func wrongStatusError(endpoint string, a answer) error {
	switch { // a kernel refuses or redirects a POST to its API only for its lock screen
	case a.status == http.StatusMethodNotAllowed, a.status == http.StatusNotImplemented,
		a.status >= 300 && a.status < 400 && !strings.Contains(a.header.Get("Location"), "check-auth"):
		return notAKernelError(endpoint, a)
	}
	return &statusError{a.status, a.body}
}

// endpointMissingError returns the error for an endpoint that this kernel lacks: it answers 404 without gzip, and an empty
// 200 with gzip.
func endpointMissingError(endpoint string) error {
	return &tool.Error{
		Op: "ask SiYuan", Kind: NotInKernel, Subject: endpoint,
		Message: "this kernel has no such endpoint, or did not understand the request",
		Hint:    "collie siyuan doctor shows the version of the kernel and what it lacks",
	}
}

// notAKernelError returns the error for an answer that no kernel gives.
func notAKernelError(endpoint string, a answer) error {
	return &tool.Error{
		Op: "ask SiYuan", Kind: tool.Unavailable, Code: CodeNotSiYuan, Subject: endpoint,
		Message: fmt.Sprintf("the server there is not a SiYuan kernel: HTTP %d, %.60q", a.status, bytes.TrimSpace(a.body)),
		Hint:    "another program has that port; collie siyuan doctor looks for the kernel",
	}
}

func internalError(endpoint string, err error) error {
	return &tool.Error{Op: "ask SiYuan", Kind: tool.Internal, Subject: endpoint, Err: err}
}

// unexpectedDataError returns the error for data of an unknown shape.
func unexpectedDataError(endpoint string, k requestKind, err error) error {
	return &tool.Error{
		Op: "ask SiYuan", Kind: API, Subject: endpoint, OutcomeUnknown: k.write,
		Message: "the answer has another shape than expected", Err: err,
		Hint: "this kernel may be newer or older than those that are known; collie siyuan doctor shows its version",
	}
}

// isTransient reports whether repeating a read may help.
func isTransient(err error) bool {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status == http.StatusTooManyRequests || e.status >= 500
	}
	if _, ok := errors.AsType[*codeError](err); ok {
		return false
	}
	if _, ok := errors.AsType[*tool.Error](err); ok {
		return false
	}
	return !errors.Is(err, errTooLong)
}

// callerError turns the error of a request, which went out or not, into the one for the caller: a [*tool.Error].
func (c *Client) callerError(ctx context.Context, endpoint string, k requestKind, err error) error {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*codeError](err); ok {
		return apiError(endpoint, e)
	}
	e, isStatus := errors.AsType[*statusError](err)
	if isStatus && e.status < 500 {
		return c.refusedStatusError(endpoint, e)
	}
	if k.write && !wasNotSent(err) {
		return &tool.Error{
			Op: "ask SiYuan", Kind: OutcomeUnknown, Subject: endpoint, OutcomeUnknown: true,
			Message: "the write may have taken effect: the kernel gave no proper answer", Err: err,
			Hint: "read the target again before you repeat the write", Facts: map[string]any{"endpoint": endpoint},
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return &tool.Error{Op: "ask SiYuan", Kind: tool.Canceled, Subject: endpoint, Err: context.Cause(ctx)}
	}
	if isStatus {
		return &tool.Error{Op: "ask SiYuan", Kind: API, Subject: endpoint, Err: err}
	}
	if errors.Is(err, errTooLong) {
		return &tool.Error{Op: "ask SiYuan", Kind: tool.TooLarge, Subject: endpoint, Err: err}
	}
	return c.unreachableError(endpoint, err)
}

// wasNotSent reports whether a request was not sent because there was no connection.
func wasNotSent(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "dial"
}

// refusedStatusError returns the error for a 4xx status.
func (c *Client) refusedStatusError(endpoint string, e *statusError) error {
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		out := &tool.Error{
			Op: "ask SiYuan", Kind: tool.Unauthorized, Subject: endpoint,
			Message: fmt.Sprintf("the kernel at %s does not accept the token", c.base),
			Hint:    "copy the token from SiYuan, Settings - About - API token, and run: collie siyuan connection set NAME --token-stdin",
		}
		if c.opts.Token == "" {
			out.Message = fmt.Sprintf("the kernel at %s wants a token, and none is configured", c.base)
		}
		return out
	case http.StatusTooManyRequests:
		return &tool.Error{
			Op: "ask SiYuan", Kind: tool.Busy, Subject: endpoint,
			Message: "the kernel refuses requests for a while, as it does after wrong tokens",
		}
	}
	return &tool.Error{Op: "ask SiYuan", Kind: API, Subject: endpoint, Message: e.Error()}
}

// unreachableError returns the error for a kernel that could not be connected to, or did not answer in time.
func (c *Client) unreachableError(endpoint string, err error) error {
	out := &tool.Error{
		Op: "ask SiYuan", Kind: tool.Unavailable, Code: CodeUnreachable, Subject: endpoint, Err: err,
		Message: "no SiYuan kernel answers at " + c.base,
		Hint:    "start SiYuan, or see collie siyuan doctor",
	}
	if strings.HasPrefix(c.base, "https:") && !wasNotSent(err) && isTLSError(err) {
		out.Code, out.Message = codeNotSecure, "no secure connection to "+c.base+" comes about"
		out.Hint = "write http:// for a SiYuan on this machine; the certificate of another one has to be trusted here"
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		out.Message = "the SiYuan kernel at " + c.base + " does not answer in time"
		out.Err = nil
	}
	return out
}

// isTLSError reports whether an error is about TLS: an untrusted certificate, or a server without TLS.
func isTLSError(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	return errors.Is(err, http.ErrSchemeMismatch)
}

// messagePatterns recognizes errors by their message, which is in the language of the user's interface; the numeric
// code hardly ever helps. It covers English, simplified and traditional Chinese, and Japanese. Most errors are found by
// our own checks before.
var messagePatterns = []struct {
	pattern *lazyregexp.Regexp
	kind    tool.ErrorKind
	code    string
	hint    string
}{
	{
		pattern: lazyregexp.New(`(?i)attribute view.*not found|view not found|数据库不存在|未找到.*数据库|資料庫不存在|データベース.*見つかりません`),
		kind:    tool.NotFound, code: CodeDatabaseNotFound, hint: `av(action="search") finds databases`,
	},
	{
		pattern: lazyregexp.New(`(?i)notebook.*(closed|initializ)|query notebook failed|笔记本.*(已关闭|初始化)|筆記本.*(已關閉|初始化)|ノートブック.*(閉じ|初期化)`),
		kind:    API, code: CodeNotebookClosed, hint: `notebook(action="set_open_state", opened=true) opens it`,
	},
	{
		pattern: lazyregexp.New(`(?i)notebook.*not found|笔记本不存在|未找到.*笔记本|筆記本不存在|ノートブック.*見つかりません`),
		kind:    tool.NotFound, code: CodeNotebookNotFound, hint: `notebook(action="list") shows the notebooks`,
	},
	{
		pattern: lazyregexp.New(`(?i)\b(tree|document|doc)\b.*not found|文档不存在|未找到.*文档|文檔不存在|文件不存在|ドキュメント.*見つかりません`),
		kind:    tool.NotFound, code: CodeDocumentNotFound, hint: `document(action="lookup") and fs(action="ls") find documents`,
	},
	{
		pattern: lazyregexp.New(`(?i)block.*not found|未找到 ?ID ?为.*的内容块|未找到 ?ID ?為.*的內容塊|ブロック.*見つかりません|\bindexing\b`),
		kind:    tool.NotFound, code: CodeBlockNotFound, hint: `search(action="fulltext") finds blocks by their text`,
	},
	{
		pattern: lazyregexp.New(`(?i)path escapes notebook directory|invalid path`),
		kind:    InvalidPath, hint: `fs(action="ls") and document(action="list_tree") show valid paths`,
	},
	{
		pattern: lazyregexp.New(`(?i)read-?only mode|只读模式|唯讀模式|読み取り専用`),
		kind:    API, code: CodeReadOnly, hint: "the kernel runs read-only, and refuses what writes and what needs SQL; a person can start it without --readonly",
	},
	{
		pattern: lazyregexp.New(`(?i)data repo key|数据仓库密钥|(資料|數據)倉庫(密鑰|金鑰)|データリポジトリ.*(鍵|キー)`),
		kind:    API, code: codeNoRepoKey, hint: "a person makes the key of the data repository in SiYuan: Settings - Account & Sync - Data repo key",
	},
	{
		pattern: lazyregexp.New(`(?i)permission denied|权限被拒绝|權限被拒絕|権限.*拒否`),
		kind:    API, code: "permission_denied", hint: "",
	},
}

// apiError returns the error for an answer whose code is not 0, of the kind that its message tells.
func apiError(endpoint string, e *codeError) error {
	out := &tool.Error{Op: "ask SiYuan", Kind: API, Subject: endpoint, Message: e.Error(), Facts: map[string]any{"kernelCode": e.code}}
	for _, t := range messagePatterns {
		if t.pattern.MatchString(e.msg) {
			out.Kind, out.Code, out.Hint = t.kind, t.code, t.hint
			break
		}
	}
	return out
}
