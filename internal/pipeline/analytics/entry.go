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
	tokenMode   = "approx_context_v1" //nolint:gosec // the name of the estimate of tokens
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

	// Dropped, if not 0, means that this is not a call but a note: so many calls before it were not recorded.
	Dropped int64 `json:"-"`
}

// noteLine is a line that says how many calls were dropped.
type noteLine struct {
	Seq     int64  `json:"seq"`
	TS      int64  `json:"ts"`
	Note    string `json:"note"`
	Dropped int64  `json:"dropped"`
}

// sizeHint returns the range that a length is in. Upper bounds are inclusive.
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
