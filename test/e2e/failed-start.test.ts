/** A gateway that cannot start ends its process with the reason, also if the start fails late. */
import { mkdtempSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startChild } from '../support/child-gateway.ts'

test('a process ends with the reason if its database opens, but its first lease cannot be written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-start-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'a.db')
  const environment = { DATABASE_URL: `sqlite:${path}` }
  const first = await startChild(environment)
  await first.kill('SIGTERM')
  const database = new DatabaseSync(path)
  database.exec(
    `create trigger refuse before insert on replicas begin select raise(abort, 'disk full'); end`,
  )
  database.close()
  await expect(startChild(environment)).rejects.toThrow('disk full')
})

test.each(['/proc/none/a.db', '/dev/null/none/a.db'])(
  'a process ends with what to do if the folder of its database cannot be created (%s)',
  async (path) => {
    const start = startChild({ DATABASE_URL: `sqlite:${path}` })
    await expect(start).rejects.toThrow(/folder \/\S+ cannot be created \(\w+\)\. Create it/)
  },
)
