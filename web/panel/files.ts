/** NoFile says that the workspace has no such file. */
export class NoFile extends Error {}

/** readFile returns a JSON file of the workspace. It fails with NoFile where there is none: the kernel answers 202 then. */
export async function readFile(path: string): Promise<unknown> {
  const answer = await fetch('/api/file/getFile', { method: 'POST', body: JSON.stringify({ path }), cache: 'no-store' })
  if (answer.status === 202) throw new NoFile(path)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
  return answer.json()
}
