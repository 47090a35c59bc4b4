/**
 * Serves one question of its own and ends, so that all that serving takes is compiled and kept
 * (`main/start.js`). What takes the types out of a source holds 35 MB for as long as its process lives;
 * who finds them taken out never loads it, and starts three times as fast.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveNode } from '../serve-node.ts'

export async function warmUp(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-rehearsal-'))
  try {
    const serving = await serveNode(environmentIn(folder), {}, () => {})
    const answer = await fetch(`${serving.url}/v1/chat/completions`, QUESTION)
    await answer.text()
    await serving.close()
    // With another database, this takes the place of what has just been used.
    await import('../../store/database/postgres-engine.ts')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A file, for what writes to one is a thread with sources of its own. */
function environmentIn(folder: string): Readonly<Record<string, string>> {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    DATABASE_URL: `sqlite:${join(folder, 'rehearsal.db')}`,
    UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":0}}]',
  }
}

const QUESTION: RequestInit = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    model: 'demo',
    stream: true,
    store: true,
    messages: [{ role: 'user', content: 'Hello!' }],
  }),
}
