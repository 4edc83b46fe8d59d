/**
 * Moves a time that begins before the left edge of a chart's axis to the right, so that it is whole. The chart's library would cut its
 * text off.
 * @param chart the element of the chart, whose axis of time is the last row of a table
 */
export function keepTimesWhole(chart: Element): void {
  for (const canvas of chart.querySelectorAll<HTMLCanvasElement>('tr:last-child canvas')) {
    const context = canvas.getContext('2d')!;
    const write = context.fillText.bind(context);
    context.fillText = (text, x, y) => {
      const isCentred = context.textAlign === 'center';
      write(text, isCentred ? Math.max(x, context.measureText(text).width / 2) : x, y);
    };
  }
}
