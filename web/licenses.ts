import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin } from 'vite'

/** packageOf returns the folder of the package that a file belongs to; empty where it is one of ours. */
function packageOf(file: string): string {
  if (!file.includes('/node_modules/')) return ''
  let dir = dirname(file)
  while (!/node_modules\/(@[^/]+\/)?[^/]+$/.test(dir) || !existsSync(join(dir, 'package.json'))) dir = dirname(dir)
  return dir
}

/** licenses puts the licences of all that is in the bundle beside it. */
export function licenses(): Plugin {
  return {
    name: 'licenses',
    generateBundle(_, bundle) {
      const files = Object.values(bundle).flatMap((one) => (one.type === 'chunk' ? Object.keys(one.modules) : []))
      const dirs = [...new Set(files.map((file) => packageOf(file.replace(/^\0/, '').replace(/\?.*$/, ''))))].filter(Boolean)
      const texts = dirs.map((dir) => {
        const { name, version, license, author } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
        const file = readdirSync(dir).find((one) => /^licen[cs]e(\.\w+)?$/i.test(one))
        const text = file ? readFileSync(join(dir, file), 'utf8').trim() : `Copyright ${author?.name ?? author ?? `the authors of ${name}`}. It has no file with its licence.`
        if (!file && !license) throw new Error(`${name} has no licence`)
        return `${name} ${version} (${license ?? 'see below'})\n\n${text}\n`
      })
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.sort().join(`\n${'-'.repeat(80)}\n\n`) })
    },
  }
}
