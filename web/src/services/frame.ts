// Whether this page stands in a window of another program, and how it is to look there.

/** framed: this is the panel. The gateway lets no other page of ours stand in a frame, so the address says it. */
export const framed = location.pathname === '/pages/panel'

const asked = new URLSearchParams(framed ? location.search : '')

/** around returns what the window around the panel has, out of what there is; undefined where it does not say. */
export function around<T extends string>(what: 'language' | 'theme', known: readonly T[]): T | undefined {
  return known.find((one) => one === asked.get(what))
}
