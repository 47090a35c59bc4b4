/**
 * Simulates power cuts: copies the SQLite files of a stopped process under load, damages what was not on the
 * disk yet, and opens the copy. Everything acknowledged before is there, and the database is intact.
 */
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { startChild } from '../support/child-gateway.ts'
import { checkLedger } from './support/check-ledger.ts'
import { createFaultList, type Faults } from './support/fault-list.ts'
import { createLedger, type LedgerEntry } from './support/ledger.ts'
import { startLoad } from './support/mixed-load.ts'
import type { TorturePart } from './support/part-interface.ts'
import { pause } from './support/pause.ts'
import { copyPowerImage, type PowerImage } from './support/power-image.ts'

const IMAGES_PER_CUT = 5
const LEASE_SECONDS = 2

export const power: TorturePart = {
  name: 'power',
  description:
    'power cuts: the SQLite files of a moment under load, without or with garbage for what was not on the disk',
  rounds: 20,
  async run({ rounds, random, folder, printProgress }) {
    const faults = createFaultList('lost', 'duplicated', 'returned', 'corrupt', 'failed')
    const database = join(folder, 'power.db')
    const syncedFile = join(folder, 'synced')
    const settings = {
      RUN_LEASE_SECONDS: String(LEASE_SECONDS),
      UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":2}}]',
    }
    const gateway = await startChild(
      { ...settings, DATABASE_URL: `sqlite:${database}`, TORTURE_SYNCED_FILE: syncedFile },
      [new URL('support/preload-sqlite.ts', import.meta.url)],
    )
    const ledger = createLedger('w')
    const images: PowerImage[] = []
    const load = startLoad({
      url: gateway.url,
      ledger,
      faults,
      random,
      clients: 8,
    })
    let checked = 0
    for (let round = 1; round <= rounds; round += 1) {
      await pause(50 + random.below(250))
      const promised = copyEntries(ledger.entries)
      gateway.signal('SIGSTOP')
      // A system call that is in progress may still end.
      await pause(30)
      const paths = Array.from({ length: IMAGES_PER_CUT }, (_, at) => {
        const path = join(folder, `image-${round}-${at}.db`)
        images.push(copyPowerImage(database, syncedFile, path, random))
        return path
      })
      gateway.signal('SIGCONT')
      for (const path of paths) checkImage(path, promised, faults)
      // One image is opened by a gateway; the entries of earlier rounds are in the image, too.
      const DATABASE_URL = `sqlite:${paths.at(-1)}`
      const survivor = await startChild({ ...settings, DATABASE_URL })
      await checkLedger({
        url: survivor.url,
        entries: promised.slice(-MAX_CHECKED),
        faults,
        patienceMs: LEASE_SECONDS * 1000 * 5,
        mayForgetOpen: true,
      })
      checked += Math.min(promised.length, MAX_CHECKED)
      await survivor.kill('SIGKILL')
      printProgress(`cut ${round}: ${ledger.acknowledged} acknowledged`)
    }
    load.allowBreaks()
    await gateway.kill('SIGKILL')
    await load.stop()
    const damaged = images.filter(({ remainder }) => remainder !== 'all').length
    return {
      tried: `${images.length.toLocaleString('en')} images of ${rounds} moments, ${damaged} of them damaged, ${ledger.acknowledged.toLocaleString('en')} acknowledged writes`,
      faults,
      figures: `${checked.toLocaleString('en')} objects read again`,
    }
  },
}

/** Maximum number of the latest objects that are read from each image. */
const MAX_CHECKED = 300

/** The gateway goes on, so the ledger changes while an image is checked. */
function copyEntries(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  return entries.map((entry) => ({ ...entry, texts: entry.texts.map((text) => ({ ...text })) }))
}

function checkImage(path: string, promised: readonly LedgerEntry[], faults: Faults): void {
  const database = new DatabaseSync(path)
  try {
    const [{ integrity_check: verdict }] = database.prepare('pragma integrity_check').all() as [
      { readonly integrity_check: string },
    ]
    if (verdict !== 'ok') faults.add('corrupt', `${path}: ${verdict}`)
    const orphans = database.prepare('pragma foreign_key_check').all()
    if (orphans.length > 0) faults.add('corrupt', `${path}: ${orphans.length} rows without parents`)
    const rows = database.prepare("select id from turns where state = 'complete'").all()
    const complete = new Set(rows.map(({ id }) => String(id)))
    for (const { id, kind, state } of promised) {
      if (kind === 'conversation' || state !== 'acknowledged') continue
      if (!complete.has(id.slice(-TURN_ID_CHARS))) faults.add('lost', `${id} in ${path}`)
    }
  } catch (error) {
    faults.add('corrupt', `${path}: ${String(error)}`)
  } finally {
    database.close()
  }
}

const TURN_ID_CHARS = 20
