package sqlguard

// Refused is the error for a statement that may not be sent: what is wrong with it, and what to
// try instead.
type Refused struct {
	Message, Hint string
	// Scope says that it would be in order if every notebook might be read.
	Scope bool
}

// Error is the message.
func (r *Refused) Error() string { return r.Message }

func refuse(message, hint string) *Refused { return &Refused{Message: message, Hint: hint} }

func outOfScope(message, hint string) *Refused {
	return &Refused{Message: message, Hint: hint, Scope: true}
}
