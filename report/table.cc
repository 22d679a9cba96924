#include "report/table.h"

#include <algorithm>
#include <ranges>

#include "report/text.h"

namespace roofcal::report {
namespace {

bool is_number(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

bool is_list_of_records(const Value& value) { return std::holds_alternative<std::shared_ptr<const Report>>(value); }

// What a table of several records shows: text by column, and how to align it.
struct Cells {
  std::vector<std::string> titles;
  std::vector<bool> numeric;
  std::vector<std::vector<std::string>> rows;
  bool footer = false;  // the last row
};

Cells cells_of(const Report& report, EmptyColumns empty) {
  Cells cells;
  std::vector<std::vector<std::string>> columns;
  std::size_t height = report.records.size();
  for (std::size_t i = 0; i < report.columns.size(); ++i) {
    const Column& column = report.columns[i];
    if (column.audience == Audience::programs) continue;
    std::vector<std::string> texts;
    bool numeric = true;
    bool anything = false;
    bool nested = false;
    const auto add = [&](const Record& record) {
      nested = nested || is_list_of_records(record[i]);
      texts.push_back(for_people(record[i], column.unit));
      const bool known = texts.back() != "-";
      anything = anything || known;
      numeric = numeric && (!known || is_number(record[i]));
    };
    for (const Record& record : report.records) add(record);
    if (nested || (!anything && height > 0 && empty == EmptyColumns::drop)) continue;
    if (report.footer) {
      add(*report.footer);
      if (texts.back() == "-") texts.back().clear();
    }
    cells.titles.push_back(column.title);
    cells.numeric.push_back(numeric && anything);
    columns.push_back(std::move(texts));
  }
  cells.footer = report.footer.has_value();
  height += cells.footer ? 1 : 0;
  cells.rows.resize(height);
  for (auto& column : columns) {
    for (std::size_t row = 0; row < height; ++row) cells.rows[row].push_back(std::move(column[row]));
  }
  return cells;
}

std::string padded(const std::string& text, std::size_t to, bool right) {
  const std::size_t have = width(text);
  const std::string fill(to > have ? to - have : 0, ' ');
  return right ? fill + text : text + fill;
}

std::string line(const std::vector<std::string>& texts, const std::vector<std::size_t>& widths,
                 const std::vector<bool>& right) {
  std::string out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out += (i == 0 ? "" : "  ") + padded(texts[i], widths[i], right[i]);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

}  // namespace

std::string grid(const Report& report) {
  const Cells cells = cells_of(report, EmptyColumns::drop);
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < cells.titles.size(); ++i) {
    widths.push_back(width(cells.titles[i]));
    for (const auto& row : cells.rows) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (const std::size_t w : widths) total += w;
  const std::string rule = std::string(total, '-') + "\n";

  std::string out;
  if (!report.heading.empty()) out += report.heading + "\n\n";
  out += line(cells.titles, widths, cells.numeric) + rule;
  for (std::size_t i = 0; i < cells.rows.size(); ++i) {
    if (cells.footer && i + 1 == cells.rows.size()) out += rule;
    out += line(cells.rows[i], widths, cells.numeric);
  }
  return out;
}

std::string card(const Report& report) {
  const Record& record = report.records.front();
  std::string out;
  if (!report.heading.empty()) out += report.heading + "\n\n";
  std::size_t longest = 0;
  const auto shown = [&](std::size_t i) {
    return report.columns[i].audience != Audience::programs && !is_list_of_records(record[i]) &&
           for_people(record[i], report.columns[i].unit) != "-";
  };
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (shown(i)) longest = std::max(longest, width(report.columns[i].title));
  }
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (!shown(i)) continue;
    const std::string label = padded(report.columns[i].title, longest, false) + "  ";
    if (const auto* lines = std::get_if<std::vector<std::string>>(&record[i])) {
      for (std::size_t l = 0; l < lines->size(); ++l) {
        out += (l == 0 ? label : std::string(longest + 2, ' ')) + (*lines)[l] + "\n";
      }
    } else {
      out += label + for_people(record[i], report.columns[i].unit) + "\n";
    }
  }
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (report.columns[i].audience == Audience::programs) continue;
    const auto* list = std::get_if<std::shared_ptr<const Report>>(&record[i]);
    if (list == nullptr || (*list)->records.empty()) continue;
    out += "\n" + report.columns[i].title + "\n";
    const std::string text = grid(**list);
    for (const auto row : std::views::split(text, '\n')) {
      const std::string_view view(row.begin(), row.end());
      if (!view.empty()) out += "  " + std::string(view) + "\n";
    }
  }
  return out;
}

std::string markdown(const Report& report, EmptyColumns empty) {
  const Cells cells = cells_of(report, empty);
  const auto row = [](const std::vector<std::string>& texts) {
    std::string out = "|";
    for (const std::string& text : texts) {
      out += ' ';
      for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
      }
      out += " |";
    }
    return out + "\n";
  };
  std::string out = row(cells.titles) + "|";
  for (const bool right : cells.numeric) out += right ? "---:|" : "---|";
  out += "\n";
  for (const auto& texts : cells.rows) out += row(texts);
  return out;
}

}  // namespace roofcal::report
