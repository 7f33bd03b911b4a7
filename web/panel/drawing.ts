// The drawing of the pages as a string of SVG: the same component, compiled to write markup instead of elements.

import Drawing from '../src/features/puppy/Drawing.svelte'
import type { Doing, Pose } from '../src/store/puppy.svelte'

interface Writer {
  push(markup: string): void
  component(body: (to: Writer) => void): void
}

/** draw returns the puppy as SVG. */
export function draw(doing: Doing, pose: Pose, tool: string, hearts: boolean): string {
  let out = ''
  const to: Writer = { push: (markup) => (out += markup), component: (body) => body(to) }
  ;(Drawing as unknown as (to: Writer, props: object) => void)(to, { doing, pose, tool, hearts })
  return out.replace(/<!--.*?-->/g, '') // marks for a page that takes the elements over, which is not done here
}
