module github.com/alecthomas/chroma

go 1.26
