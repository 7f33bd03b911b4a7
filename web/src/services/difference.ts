// How one text became another, line by line.

export interface Line {
  /** sign is '-' for a line of the old text, '+' for one of the new, ' ' for both, '…' for lines of both that are left out. */
  sign: '-' | '+' | ' ' | '…'
  text: string
}

const around = 2 // lines that are shown before and after a change
const most = 1 << 21 // bounds the work: the product of the numbers of lines

/** readable returns a value of JSON as lines: a string as its own, anything else indented. */
export function readable(value: unknown): string[] {
  if (value === undefined) return []
  return (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n').map(visible)
}

/** visible shows characters that are not seen, which may hide what a text says. */
export function visible(text: string): string {
  return text.replace(/[^\P{C}\t]|[\u115f\u3164\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)
}

/** straight shows the characters that turn the direction of what follows, so that a text is read in the order that it has. */
export function straight(text: string): string {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)
}

/** difference keeps as many common lines as it can. */
export function difference(before: string[], after: string[]): Line[] {
  const rows = before.length, columns = after.length
  if (rows * columns > most) return [...before.map((text) => ({ sign: '-' as const, text })), ...after.map((text) => ({ sign: '+' as const, text }))]
  const common = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1))
  for (let i = rows - 1; i >= 0; i--)
    for (let j = columns - 1; j >= 0; j--)
      common[i]![j] = before[i] === after[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!)
  const all: Line[] = []
  for (let i = 0, j = 0; i < rows || j < columns; ) {
    if (i < rows && j < columns && before[i] === after[j]) all.push({ sign: ' ', text: before[i++]! }), j++
    else if (j === columns || (i < rows && common[i + 1]![j]! >= common[i]![j + 1]!)) all.push({ sign: '-', text: before[i++]! })
    else all.push({ sign: '+', text: after[j++]! })
  }
  return near(all)
}

/** near leaves out the common lines that are not near a change. */
function near(all: Line[]): Line[] {
  const show = all.map((_, i) => all.slice(Math.max(0, i - around), i + around + 1).some((l) => l.sign !== ' '))
  return all.flatMap((l, i): Line[] => (show[i] ? [l] : i === 0 || show[i - 1] ? [{ sign: '…', text: '' }] : []))
}
