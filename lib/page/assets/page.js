// SPDX-License-Identifier: Apache-2.0
// Puts charts that can be pointed at and zoomed in the place of the page's drawings, which stay for paper and for readers
// without scripts. What a chart is made of is described in lib/page/report_model.h.
"use strict";
(function () {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue("--" + name).trim();
  const round = (value) => Number(value.toPrecision(4));

  function axis(of, labels) {
    const looks = {axisLabel: {hideOverlap: true, color: colour("soft")}, nameTextStyle: {color: colour("fore")}, axisLine: {lineStyle: {color: colour("line")}}};
    if (labels) return Object.assign({type: "category", data: labels, name: of.name, nameLocation: "middle", nameGap: 30}, looks);
    const kind = of.log ? "log" : "value";
    return Object.assign({type: kind, name: of.name, nameLocation: "middle", nameGap: 42, scale: of.log || of.scale === true,
      splitLine: {lineStyle: {color: colour("line")}}}, looks);
  }

  function bands(chart, top) {
    const list = (chart.bands || []).map((band) => [{name: band.name, xAxis: band.from, y: top - 8}, {xAxis: band.to, y: top - 1}]);
    return {silent: false, itemStyle: {color: colour("band")}, label: {show: false}, data: list};
  }

  // A slider is of use where there is more than a screen can show.
  const SLIDES = 400;
  const zoom = (count, width) => [{type: "inside", filterMode: "none"}].concat(count > SLIDES && width > 700 ? [{type: "slider", height: 14, bottom: 0, filterMode: "none"}] : []);
  const side = (width) => (width < 500 ? 56 : 80);
  const words = (name) => name.replaceAll("_", " ");

  // The legend above a plot, and the room that its rows take where all names do not fit beside each other.
  function above(chart, width) {
    const names = chart.series.map((one) => one.name.length * 7 + 45).reduce((sum, one) => sum + one, 0);
    const rows = Math.max(1, Math.ceil(names / Math.max(200, width - 120)));
    return {legend: {top: 4, left: 60, right: 60, textStyle: {color: colour("fore")}}, top: 22 + 18 * rows};
  }

  // A log axis has whole decades: what fills less than one of them is better on a linear one.
  function narrow(chart) {
    const at = chart.series.flatMap((one) => one.points.map((point) => point[0])).filter((x) => x > 0);
    const fills = chart.x.log && at.reduce((a, b) => Math.max(a, b), 0) > 10 * at.reduce((a, b) => Math.min(a, b), Infinity);
    return Object.assign({}, chart.x, {log: fills, scale: chart.x.log || chart.x.scale});
  }

  function lines(chart, width) {
    const over = above(chart, width);
    return {
      xAxis: axis(narrow(chart)), yAxis: axis(chart.y), dataZoom: zoom(chart.series.reduce((sum, one) => Math.max(sum, one.points.length), 0), width),
      grid: {left: side(width), right: 30, top: over.top, bottom: 60}, legend: over.legend,
      series: chart.series.map((one, index) => ({type: "line", name: words(one.name), data: one.points, showSymbol: one.points.length < 2,
        color: colour("c" + index % 8), lineStyle: {type: index < 8 ? "solid" : "dashed"}, markArea: index === 0 ? bands(chart, over.top) : undefined})),
    };
  }

  // Intervals of points are drawn by a series of their own, which nothing points at.
  function intervals(one, index) {
    const data = one.points.filter((point) => point.length > 3).map((point) => [point[0], point[2], point[3]]);
    return {type: "custom", silent: true, name: one.name, data: data, color: colour("c" + index % 8), encode: {x: 0, y: [1, 2]}, z: 1,
      renderItem: function (params, api) {
        const low = api.coord([api.value(0), api.value(1)]), high = api.coord([api.value(0), api.value(2)]);
        return {type: "line", shape: {x1: low[0], y1: low[1], x2: high[0], y2: high[1]}, style: {stroke: colour("c" + index % 8), lineWidth: 1.5}};
      }};
  }

  function points(chart, width) {
    const over = above(chart, width);
    return {
      xAxis: axis(chart.joined ? narrow(chart) : chart.x), yAxis: axis(chart.y), grid: {left: side(width), right: 30, top: over.top, bottom: 60}, legend: over.legend,
      series: chart.series.map((one, index) => ({type: chart.joined ? "line" : "scatter", name: one.name, data: one.points, symbolSize: 7,
        color: colour("c" + index % 8)})).concat(chart.series.map(intervals).filter((one) => one.data.length > 0)),
    };
  }

  function parallel(chart, width) {
    const over = above(chart, width), last = chart.labels.length - 1;
    return {
      parallelAxis: chart.labels.map((name, index) => ({dim: index, name: name, min: index < last ? 0 : "dataMin", max: index < last ? 1 : "dataMax", scale: true,
        nameTextStyle: {color: colour("fore")}, axisLabel: {color: colour("soft"), formatter: (value) => String(round(value))}, axisLine: {lineStyle: {color: colour("line")}}})),
      parallel: {left: 80, right: 80, top: over.top + 24, bottom: 40}, legend: over.legend,
      series: chart.series.map((one, index) => ({type: "parallel", name: one.name, data: one.points.map((values) => values.map((value) => value ?? "-")),
        lineStyle: {color: colour("c" + index % 8), width: 1, opacity: 0.5}, color: colour("c" + index % 8)})),
    };
  }

  function bars(chart, width) {
    const over = above(chart, width);
    return {
      xAxis: axis(chart.x, chart.labels), yAxis: axis(chart.y), grid: {left: side(width), right: 30, top: over.top, bottom: 50}, legend: over.legend,
      series: chart.series.map((one, index) => ({type: "bar", name: one.name, data: one.points.map((point) => point[1]),
        color: colour("c" + index % 8), barMaxWidth: 60,
        markLine: one.points.length < 2 ? undefined : {silent: true, symbol: "none", data: [{type: "average", name: "mean"}],
          label: {formatter: "mean", position: "insideEndTop", color: colour("soft")}, lineStyle: {color: colour("soft"), type: "dashed"}}})),
    };
  }

  function spans(chart, width) {
    const brief = width < 500;
    return {
      xAxis: axis(chart.x), yAxis: Object.assign(axis(chart.y, chart.rows), {inverse: true, axisLabel: {color: colour("soft"), width: brief ? 90 : 200, overflow: "truncate"}}),
      grid: {left: brief ? 105 : 220, right: 30, top: 24, bottom: 60}, dataZoom: zoom(chart.spans.length, width),
      series: [{
        type: "custom", markArea: bands(chart, 20), encode: {x: [1, 2], y: 0}, data: chart.spans.map((one) => ({name: one[3], value: one})),
        tooltip: {formatter: (of) => of.name + ": " + round(of.value[1]) + " to " + round(of.value[2]) + " " + chart.x.name},
        renderItem: function (params, api) {
          const from = api.coord([api.value(1), api.value(0)]), to = api.coord([api.value(2), api.value(0)]);
          const height = api.size([0, 1])[1] * 0.7;
          const shape = {x: from[0], y: from[1] - height / 2, width: Math.max(1, to[0] - from[0]), height: height};
          const bar = {type: "rect", shape: shape, style: {fill: colour("c" + (api.value(4) >= 0 ? api.value(4) : params.dataIndex % 8))}};
          const mean = chart.spans[params.dataIndex][5];
          if (mean === undefined) return bar;
          const x = api.coord([mean, api.value(0)])[0];
          const mark = {type: "line", shape: {x1: x, y1: shape.y - 2, x2: x, y2: shape.y + height + 2}, style: {stroke: colour("fore"), lineWidth: 2.5}};
          return {type: "group", children: [bar, mark]};
        },
      }],
    };
  }

  const kinds = {line: lines, points: points, parallel: parallel, bar: bars, spans: spans};
  const height = (chart) => (chart.rows ? Math.max(150, 90 + 24 * chart.rows.length) : 300);

  function draw(chart) {
    const figure = document.getElementById("chart-" + chart.id), place = figure.querySelector(".live");
    if (chart.kind === "heat") { // cells of the page itself
      figure.dataset.drawn = figure.querySelectorAll(".cell:not(.none)").length;
      return null;
    }
    place.hidden = false;
    place.style.height = height(chart) + "px";
    figure.classList.add("is-live");
    const live = echarts.init(place, null, {renderer: "svg"});
    const options = Object.assign({animation: false, textStyle: {color: colour("fore")}, tooltip: {trigger: chart.kind === "line" ? "axis" : "item"},
      toolbox: {right: 8, feature: {dataView: {readOnly: true, lang: [chart.title, "close", ""]}}}}, kinds[chart.kind](chart, place.clientWidth));
    live.setOption(options);
    figure.dataset.drawn = live.getOption().series.filter((one) => one.silent !== true).reduce((sum, one) => sum + one.data.length, 0);
    return live;
  }

  // What is folded has no width: it is opened while its charts are made.
  function all() {
    const folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((one) => { one.open = true; });
    const ret = JSON.parse(document.getElementById("charts").textContent).map(draw).filter((one) => one !== null);
    folded.forEach((one) => { one.open = false; });
    return ret;
  }

  let live = all();
  window.addEventListener("resize", () => live.forEach((one) => one.resize()));
  document.querySelectorAll("details").forEach((one) => one.addEventListener("toggle", () => live.forEach((chart) => chart.resize())));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    live.forEach((one) => one.dispose());
    live = all();
  });
  document.documentElement.dataset.charts = "live";
})();
