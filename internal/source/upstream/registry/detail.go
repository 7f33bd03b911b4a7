package registry

// The following types describe a registry's answers, with only the members used here: server.json in its schemas
// since 2025-09.

type detail struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Version     string `json:"version"`
	Repository  struct {
		URL string `json:"url"`
	} `json:"repository"`
	Packages []pack   `json:"packages"`
	Remotes  []remote `json:"remotes"`
}

type pack struct {
	Type     string `json:"registryType"`
	Base     string `json:"registryBaseUrl"`
	Name     string `json:"identifier"`
	Version  string `json:"version"`
	Hint     string `json:"runtimeHint"`
	Sum      string `json:"fileSha256"`
	Carrier  remote `json:"transport"`
	ForRun   []arg  `json:"runtimeArguments"`
	Args     []arg  `json:"packageArguments"`
	Variable []arg  `json:"environmentVariables"`
}

type remote struct {
	Type      string         `json:"type"`
	URL       string         `json:"url"`
	Headers   []arg          `json:"headers"`
	Variables map[string]arg `json:"variables"`
}

// arg is an argument, a variable or a header, and a variable within the value of one.
type arg struct {
	Type        string         `json:"type"` // of an argument: positional or named
	Name        string         `json:"name"`
	Hint        string         `json:"valueHint"`
	Value       *string        `json:"value"`
	Default     string         `json:"default"`
	Description string         `json:"description"`
	Placeholder string         `json:"placeholder"`
	Format      string         `json:"format"`
	Choices     []string       `json:"choices"`
	Required    bool           `json:"isRequired"`
	Secret      bool           `json:"isSecret"`
	Repeated    bool           `json:"isRepeated"`
	Variables   map[string]arg `json:"variables"`
}
