package content

// Hidden returns a veil over every block.
func Hidden() *Veil { return &Veil{} }

var (
	Tokens = tokens
	Plain  = plainText
)
