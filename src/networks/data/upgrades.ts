/**
 * The upgrade schedule of every built-in network, in the reference's order.
 * @see Lotus v1.36.2-dev build/buildconstants/params_*.go, chain/consensus/filcns/upgrades.go
 */
import type { Json } from '../../codec/jsonText.ts'

/** Name, network version, actors version, migration, then the height on each network. */
type Row = readonly [string, number | null, number | null, string | null, number, number, number, number]

/** Columns of heights. */
const FIRST_HEIGHT = { mainnet: 4, calibnet: 5, butterflynet: 6, devnet: 7 } as const

const UPGRADES: readonly Row[] = [
  ['Breeze', 1, 0, 'UpgradeFaucetBurnRecovery', 41280, -1, -1, -1],
  ['Smoke', 2, 0, null, 51000, -2, -2, -1],
  ['Ignition', 3, 0, 'UpgradeIgnition', 94000, -3, -3, -2],
  ['Refuel', 3, 0, 'UpgradeRefuel', 130800, -4, -4, -3],
  ['Assembly', 4, 2, 'UpgradeActorsV2', 138720, 30, -5, -5],
  ['Tape', 5, 2, null, 140760, 60, -6, -4],
  ['Liftoff', 5, 2, 'UpgradeLiftoff', 148888, -5, -7, -6],
  ['Kumquat', 6, 2, null, 170000, 90, -8, -7],
  ['Calico', 7, 2, 'UpgradeCalico', 265200, 120, -9, -9],
  ['Persian', 8, 2, null, 272400, 240, -10, -10],
  ['Orange', 9, 2, null, 336458, 300, -12, -11],
  ['Trust', 10, 3, 'UpgradeActorsV3', 550321, 330, -13, -13],
  ['Norwegian', 11, 3, null, 665280, 360, -14, -14],
  ['Turbo', 12, 4, 'UpgradeActorsV4', 712320, 390, -15, -15],
  ['Hyperdrive', 13, 5, 'UpgradeActorsV5', 892800, 420, -16, -16],
  ['Chocolate', 14, 6, 'UpgradeActorsV6', 1231620, 450, -17, -17],
  ['OhSnap', 15, 7, 'UpgradeActorsV7', 1594680, 480, -18, -18],
  ['Skyr', 16, 8, 'UpgradeActorsV8', 1960320, 510, -19, -19],
  ['Shark', 17, 9, 'UpgradeActorsV9', 2383680, 16800, -20, -20],
  ['Hygge', 18, 10, 'UpgradeActorsV10', 2683348, 322354, -21, -21],
  ['Lightning', 19, 11, 'UpgradeActorsV11', 2809800, 489094, -22, -22],
  ['Thunder', 20, 11, null, 2870280, 492214, -23, -23],
  ['Watermelon', 21, 12, 'UpgradeActorsV12', 3469380, 1013134, -24, -24],
  ['WatermelonFix', 21, 12, 'buildUpgradeActorsV12MinerFix', -1, 1070494, -100, -100],
  ['WatermelonFix2', 21, 12, 'buildUpgradeActorsV12MinerFix', -2, 1108174, -101, -101],
  ['Dragon', 22, 13, 'UpgradeActorsV13', 3855360, 1427974, -25, -25],
  ['CalibrationDragonFix', 22, 13, 'upgradeActorsV13VerifregFix', -3, 1493854, -102, -102],
  ['Waffle', 23, 14, 'UpgradeActorsV14', 4154640, 1779094, -27, -27],
  ['Tuktuk', 24, 15, 'UpgradeActorsV15', 4461240, 2078794, -28, -28],
  ['Teep', 25, 16, 'UpgradeActorsV16', 4878840, 2523454, -29, -29],
  ['Tock', 26, 16, null, 5138040, 2543614, -30, -30],
  ['TockFix', 26, 16, 'UpgradeActorsV16Fix', -1, 2558014, -103, -103],
  ['GoldenWeek', 27, 17, 'UpgradeActorsV17', 5348280, 3007294, -31, -31],
  ['FireHorse', 28, 18, 'UpgradeActorsV18', 6052800, 3694534, 1440, -32],
  ['Xx', 29, 19, 'UpgradeActorsV19', 9999999999, 999999999999999, 999999999999999, 200],
  ['Claus', null, null, null, 343200, 270, -11, -12],
  ['Phoenix', null, null, null, 3855480, 1428094, -26, -26],
]

/** The schedule of a network. */
export function upgradesOf(network: keyof typeof FIRST_HEIGHT): Json {
  const column = FIRST_HEIGHT[network]
  return UPGRADES.map((row) => {
    const [name, networkVersion, actorsVersion, migration] = row
    return { name, height: row[column], networkVersion, actorsVersion, migration }
  })
}
