package toolcache

// The stable codes that [Cache.Lookup] gives as reasons, and that entries keep as theirs.
const (
	reasonNoEntry       = "no_entry"
	reasonNoHash        = "no_hash"
	reasonConfigChanged = "config_changed"
	reasonTooOld        = "too_old"
	reasonFingerprint   = "fingerprint"
	reasonClock         = "clock"
	reasonPrincipal     = "principal"
	reasonRemoved       = "removed"
	reasonEmpty         = "empty"
	reasonInvalid       = "invalid"
	reasonTampered      = "tampered"
	reasonImported      = "imported"
)
