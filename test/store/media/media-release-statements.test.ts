/** Checks that one transaction deletes a limited number of released media, and that the next ones delete the others. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import {
  buildSweepQueries,
  createMediaReleaseStatements,
} from '../../../src/store/media/media-release-statements.ts'
import { ENGINES } from '../engines.ts'

const query = (sql: string): SqlQuery => ({ name: null, sql, parameters: [] })
const RELEASED = Array.from({ length: 450 }, (_, at) => `m${at}`)

describe.each(ENGINES.filter(([name]) => name !== 'a SQLite file'))(
  'released media on %s',
  (_, open) => {
    let engine: Engine
    beforeAll(async () => {
      engine = await open()
    })
    afterAll(() => engine.close())

    test('a sweep checks at most 200 released media, and keeps those that are used', async () => {
      const media = RELEASED.map((id) => `('${id}', 't', 'image/png', 1, 5, -1)`)
      const pieces = RELEASED.map((id) => `('${id}', 0, 't', 'x')`)
      // Every third medium is still used by an address.
      const addresses = RELEASED.filter((_, at) => at % 3 === 0).map(
        (id) => `('a${id}', 't', '${id}', 'image/png', 5, 5)`,
      )
      await engine.write([
        query(
          `insert into media (id, tenant, mime, chars, created_at, used_at) values ${media.join()}`,
        ),
        query(
          `insert into media_pieces (media_id, position, tenant, body) values ${pieces.join()}`,
        ),
        query(
          `insert into media_addresses (id, tenant, media_id, mime, fetched_at, used_at) values ${addresses.join()}`,
        ),
      ])
      const statements = createMediaReleaseStatements(engine.language)
      const checked: number[] = []
      for (let sweep = 0; sweep < 10 && checked.at(-1) !== 0; sweep += 1) {
        const [released = []] = await engine.write(buildSweepQueries(statements))
        checked.push(released.length)
      }
      expect(checked).toEqual([200, 200, 50, 0])
      const [kept, keptPieces] = await engine.read([
        query(`select count(*) as n, min(used_at) as used_at from media`),
        query('select count(*) as n from media_pieces'),
      ])
      expect(kept).toEqual([{ n: 150, used_at: 0 }])
      expect(keptPieces).toEqual([{ n: 150 }])
    })
  },
)
