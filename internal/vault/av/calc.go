package av

import (
	"math"
	"slices"
	"strconv"
	"time"

	"collie/internal/siyuanapi"
)

// This file has the calculations over a column, such as sum and median.

// calculate returns the result of a calculation over the values of a column; nil for an unknown operator. Operators
// have the names of the editor's menus. Sums and other statistics skip values that are not numbers. Without any number
// they are 0, as in SiYuan.
func calculate(operator string, values []*value, format string) *value {
	numbers := numbersOf(values)
	filled := 0
	for _, v := range values {
		filled += btoi(!v.isEmpty())
	}
	switch operator {
	case "Count all":
		return numberOf(float64(len(values)), "")
	case "Count values":
		return numberOf(float64(countValues(values)), "")
	case "Count unique values":
		return numberOf(float64(len(unique(values))), "")
	case "Count empty":
		return numberOf(float64(len(values)-filled), "")
	case "Count not empty":
		return numberOf(float64(filled), "")
	case "Percent empty":
		return percentage(len(values)-filled, len(values))
	case "Percent not empty":
		return percentage(filled, len(values))
	case "Percent unique values":
		return percentage(len(unique(values)), len(values))
	case "Checked":
		return numberOf(float64(countChecked(values)), "")
	case "Unchecked":
		return numberOf(float64(len(values)-countChecked(values)), "")
	case "Percent checked":
		return percentage(countChecked(values), len(values))
	case "Percent unchecked":
		return percentage(len(values)-countChecked(values), len(values))
	case "Sum", "Average", "Median", "Min", "Max":
		return numberOf(statistic(operator, numbers), format)
	case "Range":
		if moments := momentsOf(values); len(numbers) == 0 && len(moments) > 0 {
			return dateRange(moments[0], moments[len(moments)-1])
		}
		return numberOf(roundBinary(statistic("Max", numbers)-statistic("Min", numbers)), format)
	case "Earliest", "Latest":
		moments := momentsOf(values)
		switch {
		case len(moments) == 0:
			return &value{Type: siyuanapi.ColumnDate, Date: &siyuanapi.Date{}}
		case operator == "Earliest":
			return dateRange(moments[0], time.Time{})
		}
		return dateRange(moments[len(moments)-1], time.Time{})
	}
	return nil
}

// unique returns the first value of each text, without empty values.
func unique(values []*value) []*value {
	var distinct []*value
	seen := map[string]bool{}
	for _, v := range values {
		if text := v.text(); !v.isEmpty() && !seen[text] {
			seen[text] = true
			distinct = append(distinct, v)
		}
	}
	return distinct
}

// countValues counts the items in cells: a cell may contain several options, files or rows.
func countValues(values []*value) int {
	n := 0
	for _, v := range values {
		switch v.Type {
		case siyuanapi.ColumnMSelect, siyuanapi.ColumnSelect:
			n += len(v.MSelect)
		case siyuanapi.ColumnMAsset:
			n += len(v.MAsset)
		case siyuanapi.ColumnRelation:
			if v.Relation != nil {
				n += len(v.Relation.BlockIDs)
			}
		default:
			n += btoi(!v.isEmpty())
		}
	}
	return n
}

func countChecked(values []*value) int {
	n := 0
	for _, v := range values {
		n += btoi(v.Checkbox != nil && v.Checkbox.Checked)
	}
	return n
}

// numbersOf returns the numbers in values, including those in rollups, in ascending order.
func numbersOf(values []*value) []float64 {
	var numbers []float64
	for _, v := range values {
		switch {
		case v.Type == siyuanapi.ColumnNumber && !v.isEmpty():
			numbers = append(numbers, v.Number.Content)
		case v.Type == siyuanapi.ColumnRollup && v.Rollup != nil:
			numbers = append(numbers, numbersOf(v.Rollup.Contents)...)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// momentsOf returns the times in values, in ascending order. Of a range it returns both ends.
func momentsOf(values []*value) []time.Time {
	var moments []time.Time
	for _, v := range values {
		if v.Type == siyuanapi.ColumnRollup && v.Rollup != nil {
			moments = append(moments, momentsOf(v.Rollup.Contents)...)
			continue
		}
		if at, ok := v.time(); ok {
			moments = append(moments, at)
		}
		if v.Date != nil && v.Date.HasEnd && v.Date.NotEmpty2 {
			moments = append(moments, time.UnixMilli(v.Date.Content2))
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	return moments
}

// statistic computes one number from a sorted list, 0 from an empty one.
func statistic(operator string, numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	sum := 0.0
	for _, n := range numbers {
		sum += n
	}
	middle := len(numbers) / 2
	switch operator {
	case "Sum":
		return roundBinary(sum)
	case "Average":
		return roundBinary(sum / float64(len(numbers)))
	case "Min":
		return numbers[0]
	case "Max":
		return numbers[len(numbers)-1]
	case "Median":
		if len(numbers)%2 == 0 {
			return roundBinary((numbers[middle-1] + numbers[middle]) / 2)
		}
		return numbers[middle]
	}
	return 0
}

// roundBinary removes the error of adding binary fractions, so that 0.1 + 0.2 is 0.3. It rounds the decimal form, since
// a large whole number would not survive a multiplication.
func roundBinary(n float64) float64 {
	const digits = 10
	if r, err := strconv.ParseFloat(strconv.FormatFloat(n, 'f', digits, 64), 64); err == nil {
		return r
	}
	return n
}

// numberOf returns a computed number as a value, in a format of numbers.
func numberOf(n float64, format string) *value {
	return &value{Type: siyuanapi.ColumnNumber, Number: numberValue(n, format)}
}

// percentage returns the share of part in total as a value, 0 if total is 0.
func percentage(part, total int) *value {
	if total == 0 {
		return numberOf(0, "percent")
	}
	return numberOf(math.Round(float64(part)/float64(total)*1e4)/1e4, "percent")
}

// dateRange returns the value of a range, or of a single time if until is zero.
func dateRange(from, until time.Time) *value {
	d := &siyuanapi.Date{Content: from.UnixMilli(), NotEmpty: true}
	if !until.IsZero() {
		d.HasEnd, d.Content2, d.NotEmpty2 = true, until.UnixMilli(), true
	}
	d.Formatted = dateText(d)
	return &value{Type: siyuanapi.ColumnDate, Date: d}
}
