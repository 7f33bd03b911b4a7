package analytics

// Status is how a call ended.
type Status string

// The values of Status.
const (
	Success Status = "success"
	Failure Status = "error" // refused and cancelled calls too
)

// The values of Entry.Transport.
const (
	viaStdio = "stdio"
	HTTP     = "http"
	viaCLI   = "cli"
)

const (
	tokenMode   = "approx_context_v1" //nolint:gosec // how tokens are counted
	noteDropped = "dropped"
)

// Entry is one call, as it is in the files. Names and meanings are in the package comment.
type Entry struct {
	Seq                 int64    `json:"seq"`
	TS                  int64    `json:"ts"`
	Tool                string   `json:"tool"`
	Action              string   `json:"action"`
	Status              Status   `json:"status"`
	DurationMs          float64  `json:"durationMs"`
	ErrorType           string   `json:"errorType,omitempty"`
	ErrorCode           string   `json:"errorCode,omitempty"`
	ParamKeys           []string `json:"paramKeys"`
	ResultSizeHint      string   `json:"resultSizeHint"`
	Transport           string   `json:"transport"`
	SessionIDHash       string   `json:"sessionIdHash,omitempty"`
	RequestChars        int      `json:"requestChars"`
	ResponseChars       int      `json:"responseChars"`
	RequestBytes        int      `json:"requestBytes"`
	ResponseBytes       int      `json:"responseBytes"`
	RequestApproxTokens int      `json:"requestApproxTokens"`

	ResponseApproxTokens int    `json:"responseApproxTokens"`
	TotalApproxTokens    int    `json:"totalApproxTokens"`
	TokenMode            string `json:"tokenMode"`

	RequestText           string `json:"requestText,omitempty"`
	ResponseText          string `json:"responseText,omitempty"`
	RequestTextTruncated  bool   `json:"requestTextTruncated,omitempty"`
	ResponseTextTruncated bool   `json:"responseTextTruncated,omitempty"`

	// Dropped is how many calls before this line were not kept. Such a line is not a call.
	Dropped int64 `json:"-"`
}

// noteLine is a line that is not a call.
type noteLine struct {
	Seq     int64  `json:"seq"`
	TS      int64  `json:"ts"`
	Note    string `json:"note"`
	Dropped int64  `json:"dropped"`
}

// sizeHint is the bucket of a length; a bound belongs to the smaller one.
func sizeHint(chars int) string {
	switch {
	case chars <= 0:
		return "0"
	case chars <= 200:
		return "0-200"
	case chars <= 1000:
		return "200-1K"
	case chars <= 5000:
		return "1K-5K"
	case chars <= 20_000:
		return "5K-20K"
	}
	return "20K+"
}

// tokens estimates the tokens of a text by its length.
func tokens(chars int) int { return (chars + 3) / 4 }
