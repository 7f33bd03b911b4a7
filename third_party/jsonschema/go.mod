module github.com/santhosh-tekuri/jsonschema/v6

go 1.21

require (
	//collie: instead of
	//- 	github.com/dlclark/regexp2 v1.11.0 // used for testing
	//collie: now
	//collie: end
	golang.org/x/text v0.14.0
)
