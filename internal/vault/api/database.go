package api

// Databases is the folder in which databases lie, which SiYuan calls attribute views.
const Databases = "/data/storage/av"

// DatabasePath is the file of the database with an id.
func DatabasePath(id string) string { return Databases + "/" + id + ".json" }
