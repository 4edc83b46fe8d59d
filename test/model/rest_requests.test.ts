import { test } from 'tap';
import { countRequest, createCounters, sumOf } from '../../src/model/counters.js';
import { sampleText } from '../service/metrics/sample_state.js';

test('requests are counted by route and status, timed by route, and added up', async (t) => {
  const one = createCounters();
  const other = createCounters();
  countRequest(one, '/v1/taxonomy', 200, 0.00005);
  countRequest(one, '/v1/taxonomy', 401, 0.25);
  countRequest(other, '/v1/taxonomy', 200, 2);
  countRequest(other, 'other', 404, 0.00005);
  const lines = (await sampleText({}, { counters: sumOf([one, other]) })).split('\n');
  const values = lines.filter((line) => /^tickseal_rest_.*(?:total|_sum|_count|1"|Inf").* /.test(line));
  const duration = 'tickseal_rest_request_duration_seconds';
  t.same(values, [
    'tickseal_rest_requests_total{route="/v1/taxonomy",status="200"} 2',
    'tickseal_rest_requests_total{route="/v1/taxonomy",status="401"} 1',
    'tickseal_rest_requests_total{route="other",status="404"} 1',
    `${duration}_bucket{route="/v1/taxonomy",le="0.0001"} 1`,
    `${duration}_bucket{route="/v1/taxonomy",le="0.001"} 1`,
    `${duration}_bucket{route="/v1/taxonomy",le="0.01"} 1`,
    `${duration}_bucket{route="/v1/taxonomy",le="0.1"} 1`,
    `${duration}_bucket{route="/v1/taxonomy",le="1"} 2`,
    `${duration}_bucket{route="/v1/taxonomy",le="+Inf"} 3`,
    `${duration}_sum{route="/v1/taxonomy"} 2.25005`,
    `${duration}_count{route="/v1/taxonomy"} 3`,
    `${duration}_bucket{route="other",le="0.0001"} 1`,
    `${duration}_bucket{route="other",le="0.001"} 1`,
    `${duration}_bucket{route="other",le="0.01"} 1`,
    `${duration}_bucket{route="other",le="0.1"} 1`,
    `${duration}_bucket{route="other",le="1"} 1`,
    `${duration}_bucket{route="other",le="+Inf"} 1`,
    `${duration}_sum{route="other"} 0.00005`,
    `${duration}_count{route="other"} 1`,
  ]);
  t.equal(one.restRequests.get('/v1/taxonomy')?.byStatus.get(200), 1, 'what is added up stays');
});
