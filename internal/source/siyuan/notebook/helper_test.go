package notebook_test

func quote(id string) string { return `"` + id + `"` }

// argsFor returns a function that returns the arguments for an action on a notebook, with more members after its id.
func argsFor(more string) func(string) string {
	if more != "" {
		more = "," + more
	}
	return func(id string) string { return `{"notebook":` + quote(id) + more + `}` }
}
