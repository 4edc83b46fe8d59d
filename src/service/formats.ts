import { WIRE_VERSION } from '../cluster/log/log_batch.js';
import { CONFIG_FORMAT } from '../config/config_format.js';
import { FORMAT_VERSION } from '../log/disk/segment.js';
import { IDS_FORMAT } from '../log/store/streaming_ids.js';

/** The number of each format that this program reads and writes. scripts/deploy/COMPATIBILITY.md says what a number promises. */
export const FORMATS = {
  configuration: CONFIG_FORMAT,
  data_folder: FORMAT_VERSION,
  streaming_ids: IDS_FORMAT,
  cluster: WIRE_VERSION,
} as const;
