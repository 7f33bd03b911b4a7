/** download has the browser keep data under a name. */
export function download(name: string, data: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(data)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000) // the browser reads it in its own time
}
